import Postgres

/// Photos whose size is not known: railsauth stored them, or a version before sizes were stored.
extension PhotoStore {
    /// How many there are.
    ///
    /// - Returns: Their number.
    /// - Throws: `PostgresError`.
    package func unmeasuredCount() async throws -> Int {
        let rows = try await postgres.read(
            "SELECT count(*) AS count FROM photos WHERE state <> 'pending' AND width IS NULL"
        )
        return try rows[0].decode("count")
    }

    /// Some of them, the oldest first.
    ///
    /// - Parameters:
    ///   - id: The row's id of the last one of the page before; 0 for the first page.
    ///   - count: How many to read at most.
    /// - Returns: The ids of rows, and the photos' `random_id`.
    /// - Throws: `PostgresError`.
    package func unmeasured(after id: Int, count: Int) async throws -> [(id: Int, randomID: String)] {
        try await postgres.read(
            """
            SELECT id, random_id FROM photos WHERE state <> 'pending' AND width IS NULL AND id > \(id)
            ORDER BY id LIMIT \(count)
            """
        ).map { (try $0.decode("id"), try $0.decode("random_id")) }
    }
}
