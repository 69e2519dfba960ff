import Postgres

/// The photos to copy, and those that were copied, in a temporary table of the database.
struct CopyList {
    /// The facts about a photo that a copy needs.
    struct Photo: Sendable {
        let id: Int
        let randomID: String
        let contentType: String?
        let byteCount: Int?
    }

    private let connection: PostgresConnection

    private static let pageCount = 500

    /// Makes the table.
    ///
    /// - Parameter connection: The connection of the temporary table, leased until the end.
    /// - Throws: `InstallationError.pooler`, `PostgresError`.
    init(on connection: PostgresConnection) async throws {
        try await InstallationError.refusePooler(of: connection)
        self.connection = connection
        try await connection.execute(
            "CREATE TEMPORARY TABLE copied_photos (id bigint PRIMARY KEY, random_id text NOT NULL)"
        )
    }

    func photoCount() async throws -> Int {
        try await connection.query("SELECT count(*) AS count FROM photos WHERE state <> 'pending'").first?
            .decode("count") ?? 0
    }

    /// The photos that are still to be copied, in the order of their ids; nil at the end.
    func page(after id: Int) async throws -> [Photo]? {
        let rows = try await connection.query(
            """
            SELECT id, random_id, content_type, byte_count FROM photos
            WHERE id > \(id) AND state <> 'pending' AND NOT EXISTS (SELECT FROM copied_photos WHERE id = photos.id)
            ORDER BY id LIMIT \(Self.pageCount)
            """
        )
        if rows.isEmpty { return nil }
        return try rows.map { row in
            Photo(
                id: try row.decode("id"),
                randomID: try row.decode("random_id"),
                contentType: try row.decodeIfPresent("content_type"),
                byteCount: try row.decodeIfPresent("byte_count")
            )
        }
    }

    /// Notes that these photos are done.
    func note(_ photos: [Photo]) async throws {
        try await connection.execute(
            """
            INSERT INTO copied_photos (id, random_id)
            SELECT * FROM unnest(\(photos.map(\.id)), \(photos.map(\.randomID))) ON CONFLICT DO NOTHING
            """
        )
    }

    /// A page of the photos that were noted and are now deleted, in order of their `random_id`.
    func deleted(after randomID: String) async throws -> [String] {
        try await connection.query(
            """
            SELECT random_id FROM copied_photos
            WHERE random_id > \(randomID)
                AND NOT EXISTS (SELECT FROM photos WHERE photos.random_id = copied_photos.random_id)
            ORDER BY random_id LIMIT \(Self.pageCount)
            """
        ).map { try $0.decode("random_id") }
    }
}
