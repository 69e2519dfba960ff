import Postgres
import RecordSchema

/// Records of one owner, for an export.
extension RecordStore {
    /// The most records of a page, and the bytes of data after which it ends.
    private static let (maxOwnedCount, maxOwnedBytes) = (250, 256 << 10)

    /// A page of the records that a user owns and may read.
    ///
    /// Those in other members' inboxes are left out: their senders must not see what became of them.
    ///
    /// - Parameters:
    ///   - reader: The owner, and the collection.
    ///   - key: The key of the last record of the page before; 0 for the first page.
    ///   - schema: The schema.
    /// - Returns: The records in the order of their keys. There are no more after an empty page.
    /// - Throws: `SchemaChanged`, `PostgresError`.
    func owned(by reader: RecordReader, after key: Int, schema: AppliedSchema) async throws -> [RecordRow] {
        let rows = try await postgres.read(
            """
            WITH wanted AS MATERIALIZED (
                SELECT key, byte_count FROM records
                WHERE \(part: reader.isInPlace) AND owner_id = \(reader.userID) AND key > \(key)
                    AND \(part: RecordReader.isThere) AND EXISTS (
                        SELECT FROM grants WHERE grants.collection_id = records.collection_id AND record_key = key
                            AND rights % 2 = 1 AND stream_id IN (\(part: reader.streams))
                    )
                ORDER BY key LIMIT \(Self.maxOwnedCount)
            ),
            measured AS MATERIALIZED (
                SELECT key, sum(byte_count) OVER (ORDER BY key) - byte_count AS bytes_before FROM wanted
            ),
            page AS (
                SELECT \(part: RecordRow.columns)
                FROM measured JOIN records ON records.key = measured.key \(part: RecordRow.joins(reader))
                WHERE bytes_before < \(Self.maxOwnedBytes) AND records.deleted_at IS NULL
            )
            SELECT \(part: SchemaStore.versionColumn) AS schema_version, page.*
            FROM (VALUES (1)) AS present LEFT JOIN page ON true ORDER BY page.key
            """
        )
        try Self.check(rows, schema)
        return try rows.filter { try $0.decodeIfPresent("key", as: Int.self) != nil }
            .map { try RecordRow($0, schema: schema) }
    }
}
