import Postgres
import RecordSchema

extension RecordTransaction {
    /// How many numbers are looked at at most for some that are free.
    private static let maxSpan = 100_000

    /// Takes numbers for new records: those after the last one that are no ids yet.
    ///
    /// It locks the collection's row, after records and before photos and streams. So of two calls that create records in a
    /// collection with numbers, one waits.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - collection: The collection, none of an inbox.
    ///   - named: The ids that the call itself names.
    /// - Returns: The numbers, each greater than the one before.
    /// - Throws: `PostgresError`.
    func newNumbers(_ count: Int, in collection: AppliedCollection, besides named: [String]) async throws -> [Int] {
        if count == 0 { return [] }
        let rows = try await connection.query(
            "SELECT last_number FROM collections WHERE id = \(collection.id) FOR NO KEY UPDATE"
        )
        guard var last: Int = try rows.first?.decode("last_number") else { throw SchemaChanged() }
        var (numbers, span): ([Int], Int) = ([], count)
        // Clients may have chosen many numbers that come next.
        while numbers.count < count {
            let free = try await connection.query(
                """
                SELECT number FROM generate_series(\(last + 1), \(last + span)) AS number
                WHERE NOT EXISTS (
                    SELECT FROM records WHERE collection_id = \(collection.id) AND recipient_id = 0 AND id = number::text
                        AND deleted_at IS NULL
                ) AND number::text <> ALL(\(named))
                ORDER BY number LIMIT \(count - numbers.count)
                """
            )
            numbers += try free.map { try $0.decode("number") }
            last = numbers.count < count ? last + span : numbers[count - 1]
            span = min(span * 100, Self.maxSpan)
        }
        try await raiseLastNumber(to: last, in: collection.id)
        return numbers
    }

    /// Has new records of a collection get higher numbers than this one.
    ///
    /// - Throws: `PostgresError`.
    func raiseLastNumber(to number: Int, in collectionID: Int) async throws {
        try await connection.execute(
            "UPDATE collections SET last_number = \(number) WHERE id = \(collectionID) AND last_number < \(number)"
        )
    }
}
