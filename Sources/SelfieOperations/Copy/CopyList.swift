import Postgres

/// The photos' objects to copy, and those that were copied, in a temporary table of the database.
struct CopyList {
    /// The facts about an object that a copy needs.
    struct Object: Sendable {
        /// The row of its photo.
        let photoID: Int
        let key: String
        /// The `random_id` of its photo.
        let randomID: String
        let contentType: String?
        let byteCount: Int?
    }

    private let connection: PostgresConnection

    /// How many photos a page has, each with all of its objects.
    private static let pageCount = 500

    /// Makes the table.
    ///
    /// - Parameter connection: The connection of the temporary table, leased until the end.
    /// - Throws: `InstallationError.pooler`, `PostgresError`.
    init(on connection: PostgresConnection) async throws {
        try await InstallationError.refusePooler(of: connection)
        self.connection = connection
        try await connection.execute("CREATE TEMPORARY TABLE copied_objects (key text PRIMARY KEY)")
    }

    func objectCount() async throws -> Int {
        try await connection.query("SELECT count(*) AS count FROM photo_objects WHERE NOT is_pending").first?
            .decode("count") ?? 0
    }

    /// The objects that are still to be copied, in the order of their photos; nil at the end.
    func page(after photoID: Int) async throws -> [Object]? {
        let rows = try await connection.query(
            """
            SELECT photo_id::bigint AS photo_id, key, random_id, content_type, byte_count FROM photo_objects
            WHERE NOT is_pending AND NOT EXISTS (SELECT FROM copied_objects WHERE copied_objects.key = photo_objects.key)
                AND photo_id IN (
                    SELECT photo_id FROM photo_objects AS objects WHERE photo_id > \(photoID) AND NOT is_pending
                        AND NOT EXISTS (SELECT FROM copied_objects WHERE copied_objects.key = objects.key)
                    ORDER BY photo_id LIMIT \(Self.pageCount)
                )
            ORDER BY photo_id
            """
        )
        if rows.isEmpty { return nil }
        return try rows.map { row in
            Object(
                photoID: try row.decode("photo_id"),
                key: try row.decode("key"),
                randomID: try row.decode("random_id"),
                contentType: try row.decodeIfPresent("content_type"),
                byteCount: try row.decodeIfPresent("byte_count")
            )
        }
    }

    /// Notes that these objects are done.
    func note(_ objects: [Object]) async throws {
        try await connection.execute(
            "INSERT INTO copied_objects (key) SELECT * FROM unnest(\(objects.map(\.key))) ON CONFLICT DO NOTHING"
        )
    }

    /// A page of the objects that were noted and no longer belong to a photo, in order of their keys.
    func deleted(after key: String) async throws -> [String] {
        try await connection.query(
            """
            SELECT key FROM copied_objects
            WHERE key > \(key) AND NOT EXISTS (SELECT FROM photo_objects WHERE photo_objects.key = copied_objects.key)
            ORDER BY key LIMIT \(Self.pageCount)
            """
        ).map { try $0.decode("key") }
    }
}
