import Postgres
import RecordSchema

/// Reads records.
///
/// What a reader asks for may come from a standby.
struct RecordStore: Sendable {
    let postgres: PostgresClient

    /// A record by its id, and what the reader may do with it.
    ///
    /// - Parameters:
    ///   - id: The record's id. In an inbox, it is one of the reader's own.
    ///   - reader: Who reads, and the collection.
    ///   - schema: The schema.
    /// - Returns: The record; nil when there is none.
    /// - Throws: `SchemaChanged`, `PostgresError`.
    func find(
        _ id: String,
        for reader: RecordReader,
        schema: AppliedSchema
    ) async throws -> (row: RecordRow, rights: Rights)? {
        let rows = try await postgres.readFromStandby(
            """
            SELECT schema_version, found.* FROM (SELECT \(part: SchemaStore.versionColumn) AS schema_version) AS present
            LEFT JOIN LATERAL (
                SELECT \(part: RecordRow.columns), (
                    SELECT bit_or(rights)::bigint FROM grants
                    WHERE grants.collection_id = records.collection_id AND record_key = records.key
                        AND stream_id IN (\(part: reader.streams))
                ) AS rights
                FROM records \(part: RecordRow.joins(reader))
                WHERE \(part: reader.isInPlace) AND records.id = \(id) AND \(part: RecordReader.isThere)
            ) AS found ON true
            """
        )
        try Self.check(rows, schema)
        guard try rows[0].decodeIfPresent("key", as: Int.self) != nil else { return nil }
        let rights = try rows[0].decodeIfPresent("rights").map(Rights.init(rawValue:)) ?? []
        return (try RecordRow(rows[0], schema: schema), rights)
    }

    /// The bytes of some records, as far as the reader may see them.
    func byteCount(of ids: [String], for reader: RecordReader) async throws -> Int {
        let rows = try await postgres.readFromStandby(
            """
            SELECT coalesce(sum(byte_count), 0)::bigint AS byte_count FROM records
            WHERE \(part: reader.isInPlace) AND records.id = ANY(\(ids)) AND \(part: RecordReader.isThere)
                AND \(part: Self.isReadable(userID: reader.userID, in: [reader.collection]))
            """
        )
        return try rows[0].decode("byte_count")
    }

    /// Whether a user may list the records of a collection: those of a role are for its members.
    func lists(_ reader: RecordReader) async throws -> Bool {
        guard reader.collection.definition.access == .shared else { return true }
        return try await !postgres.readFromStandby(reader.listStream).isEmpty
    }

    /// Whether a user may do anything in a collection: the user has its role, or manages that role.
    func reaches(_ reader: RecordReader) async throws -> Bool {
        guard reader.collection.definition.access == .shared else { return true }
        return try await !postgres.readFromStandby("SELECT FROM (\(part: reader.streams)) AS mine LIMIT 1").isEmpty
    }

    /// Whether a user has sent a record to another member's inbox, even if it was deleted since.
    func hasSent(_ id: String, to memberID: String, by reader: RecordReader) async throws -> Bool {
        let sent: PostgresQuery = """
            SELECT FROM records JOIN users ON users.id = recipient_id
            WHERE member_id = \(memberID) AND collection_id = \(reader.collection.id) AND records.id = \(id)
                AND owner_id = \(reader.userID) AND recipient_id > 0
            """
        return try await !postgres.readFromStandby(
            "\(part: sent) AND deleted_at IS NULL UNION ALL \(part: sent) AND deleted_at IS NOT NULL LIMIT 1"
        ).isEmpty
    }

    /// Whether a user is the member with an id.
    func isMember(_ userID: Int, _ memberID: String) async throws -> Bool {
        try await !postgres.readFromStandby("SELECT FROM users WHERE id = \(userID) AND member_id = \(memberID)")
            .isEmpty
    }

    /// The members who read some records now.
    ///
    /// - Parameters:
    ///   - records: The records, none of them in an inbox, each with the right that the user needs to see its readers.
    ///   - userID: The user who asks.
    /// - Returns: The members' ids. Records without an answer are left out.
    /// - Throws: `PostgresError`.
    func readers(of records: [RecordName: Rights], askedBy userID: Int) async throws -> [RecordName: Set<String>] {
        if records.isEmpty { return [:] }
        let asked = Array(records)
        let rows = try await postgres.read(
            """
            SELECT records.collection_id::bigint AS collection_id, records.id, ARRAY(
                SELECT member_id FROM grants JOIN streams ON streams.id = stream_id JOIN users ON users.id = user_id
                WHERE grants.collection_id = records.collection_id AND record_key = key AND rights % 2 = 1
            ) AS readers
            FROM unnest(
                \(asked.map(\.key.collectionID)), \(asked.map(\.key.id)), \(asked.map(\.value.rawValue))
            ) AS asked (collection_id, id, needed) JOIN records USING (collection_id, id)
            WHERE recipient_id = 0 AND deleted_at IS NULL AND EXISTS (
                SELECT FROM grants WHERE grants.collection_id = records.collection_id AND record_key = key
                    AND rights & needed > 0 AND stream_id IN (\(part: RecordReader.streams(ofUser: userID, reading: [])))
            )
            """
        )
        return try rows.reduce(into: [:]) { readers, row in
            let name = RecordName(collectionID: try row.decode("collection_id"), id: try row.decode("id"))
            readers[name] = Set(try row.decode("readers", as: [String].self))
        }
    }

    /// Records in the order of their keys.
    struct Page {
        let rows: [RecordRow]
        /// Where the next page begins; nil for the last page.
        let next: String?
        /// Whether it ended since too many records were looked at.
        let isLimited: Bool
    }

    /// The way to the records of a list that looks at the fewest.
    ///
    /// - Throws: `RecordRefusal`, `PostgresError`.
    func walk(_ query: RecordQuery, for reader: RecordReader) async throws -> RecordWalk {
        let walk = try RecordWalk(query, by: reader)
        guard walk.dependsOnSizes else { return walk }
        return walk.choosing(by: try await postgres.readFromStandby(walk.sizes)[0].decode("sizes"))
    }

    /// The number of records of a list.
    ///
    /// - Throws: `PostgresError`.
    func count(_ walk: RecordWalk) async throws -> RecordPage.Count {
        let row = try await postgres.readFromStandby(RecordListStatement(walk: walk).count)[0]
        let lookedAt: Int = try row.decode("looked_at")
        return RecordPage.Count(
            value: try row.decode("count"),
            isLimited: walk.countIsLimited && lookedAt == RecordQuery.maxLookedAtCount
        )
    }

    /// A page of a list.
    ///
    /// - Parameters:
    ///   - walk: The way to its records.
    ///   - schema: The schema.
    /// - Returns: The page; nil when the reader may not read any of the collection's.
    /// - Throws: `RecordRefusal`, `SchemaChanged`, `PostgresError`.
    func page(_ walk: RecordWalk, schema: AppliedSchema) async throws -> Page? {
        let query = walk.query
        let rows = try await postgres.readFromStandby(RecordListStatement(walk: walk).page)
        try Self.check(rows, schema)
        guard try rows[0].decodeIfPresent("stream_id", as: Int.self) != nil else { return nil }
        if query.after != nil, try rows[0].decodeIfPresent("begin", as: Int.self) == nil {
            throw RecordRefusal(.noSuchPosition)
        }
        let found = try rows.filter { try $0.decodeIfPresent("key", as: Int.self) != nil }
            .map { try RecordRow($0, in: query.order, schema: schema) }
        let wanted: Int = try rows[0].decode("wanted_count")
        if found.count < wanted { return Page(rows: found, next: found.last?.position, isLimited: false) }
        let next = try rows[0].decodeIfPresent("last_before_more", as: String.self).map { last in
            RecordQuery.Position.text(last, in: query.order, value: try rows[0].decodeIfPresent("last_value"))
        }
        return Page(rows: found, next: next, isLimited: try rows[0].decodeIfPresent("is_limited") ?? false)
    }

    /// The records that others refer to, as far as the reader may see them.
    ///
    /// - Parameters:
    ///   - keys: The keys of the others, in the order of their page.
    ///   - fields: The fields.
    ///   - targets: The collections of these fields.
    ///   - userID: The reader.
    /// - Returns: For each key, the keys and the bytes of what it refers to.
    /// - Throws: `PostgresError`.
    func references(
        of keys: [Int],
        in fields: [String],
        to targets: [AppliedCollection],
        userID: Int
    ) async throws -> [Int: [(key: Int, byteCount: Int)]] {
        let rows = try await postgres.readFromStandby(
            """
            SELECT record_references.record_key, records.key, byte_count::bigint AS byte_count
            FROM record_references JOIN records ON records.key = target_key
            WHERE record_references.record_key = ANY(\(keys)) AND field = ANY(\(fields))
                AND \(part: RecordReader.isThere) AND \(part: Self.isReadable(userID: userID, in: targets))
            ORDER BY record_references.record_key, field, element
            """
        )
        return try rows.reduce(into: [:]) { references, row in
            references[try row.decode("record_key"), default: []].append(
                (try row.decode("key"), try row.decode("byte_count"))
            )
        }
    }

    /// Records by their keys, as far as the reader may see them.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - collections: Their collections.
    ///   - userID: The reader.
    ///   - schema: The schema.
    /// - Returns: The records, in the order of their keys.
    /// - Throws: `SchemaChanged`, `PostgresError`.
    func records(
        _ keys: [Int],
        in collections: [AppliedCollection],
        userID: Int,
        schema: AppliedSchema
    ) async throws -> [StoredRecord] {
        let rows = try await postgres.readFromStandby(
            """
            SELECT \(part: RecordRow.columns)
            FROM records \(part: RecordRow.joins(userID: userID, collections: collections))
            WHERE records.key = ANY(\(keys)) AND \(part: RecordReader.isThere)
                AND \(part: Self.isReadable(userID: userID, in: collections))
            ORDER BY records.key
            """
        )
        return try rows.map { try RecordRow($0, schema: schema).record }
    }

    /// The condition that a record of `records` has a grant for a reader.
    private static func isReadable(userID: Int, in collections: [AppliedCollection]) -> PostgresQuery {
        """
        EXISTS (
            SELECT FROM grants WHERE grants.collection_id = records.collection_id AND grants.record_key = records.key
                AND rights % 2 = 1 AND stream_id IN (\(part: RecordReader.streams(ofUser: userID, reading: collections)))
        )
        """
    }

    static func check(_ rows: PostgresRows, _ schema: AppliedSchema) throws {
        guard try rows[0].decode("schema_version") == schema.version else { throw SchemaChanged() }
    }
}
