import Encodings
package import Postgres
import RecordSchema

/// The tables `schema_definitions`, `collections` and `roles`.
package struct SchemaStore: Sendable {
    let postgres: PostgresClient

    /// - Parameter postgres: The database.
    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    /// The schema that is applied.
    ///
    /// - Returns: The schema, which is empty before the first was applied.
    /// - Throws: `PostgresError`, or `InvalidSchema` for one that a newer service has applied.
    package func applied() async throws -> AppliedSchema {
        let rows = try await postgres.read(Self.selection)
        return try AppliedSchema(rows[0])
    }

    /// The version of the schema that is applied; 0 before the first.
    func version() async throws -> Int {
        let rows = try await postgres.read("SELECT \(part: Self.versionColumn) AS version")
        return try rows[0].decode("version")
    }

    /// The present version, within a statement.
    static let versionColumn: PostgresQuery = "coalesce((SELECT max(version) FROM schema_definitions), 0)"

    /// The version of the last schema that removed records without numbers, within a statement; 0 for none.
    static let clearedVersionColumn: PostgresQuery = """
        coalesce((SELECT max(version) FROM schema_definitions WHERE removes_records), 0)
        """

    static let selection: PostgresQuery = """
        SELECT \(part: versionColumn) AS version,
            (SELECT definition FROM schema_definitions ORDER BY version DESC LIMIT 1) AS definition,
            ARRAY(SELECT name::text FROM collections ORDER BY id) AS collections,
            ARRAY(SELECT id::bigint FROM collections ORDER BY id) AS collection_ids,
            ARRAY(SELECT streams.id FROM collections JOIN streams ON collection_id = collections.id ORDER BY collections.id)
                AS collection_streams,
            ARRAY(SELECT name::text FROM roles ORDER BY id) AS roles,
            ARRAY(SELECT id::bigint FROM roles ORDER BY id) AS role_ids,
            ARRAY(SELECT streams.id FROM roles JOIN streams ON role_id = roles.id ORDER BY roles.id) AS role_streams
        """
}

extension AppliedSchema {
    /// Reads the row of `SchemaStore.selection`.
    init(_ row: PostgresRow) throws {
        let definition: PostgresJSON? = try row.decodeIfPresent("definition")
        func parts(_ names: String, _ ids: String, _ streams: String) throws -> [String: PartID] {
            let ids = zip(try row.decode(ids, as: [Int].self), try row.decode(streams, as: [Int].self))
            return Dictionary(
                uniqueKeysWithValues: zip(try row.decode(names, as: [String].self), ids).map { name, ids in
                    (name, PartID(id: ids.0, streamID: ids.1))
                }
            )
        }
        self.init(
            version: try row.decode("version"),
            schema: try definition.map { try Schema(stored: $0.utf8) } ?? .empty,
            collectionIDs: try parts("collections", "collection_ids", "collection_streams"),
            roleIDs: try parts("roles", "role_ids", "role_streams")
        )
    }
}
