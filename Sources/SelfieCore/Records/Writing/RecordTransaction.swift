import Postgres
import RecordSchema

/// The statements of a transaction that writes records.
///
/// Rows are locked in the order of users, records by key, photos and streams by id. Another order could make a deadlock.
struct RecordTransaction {
    let connection: PostgresConnection
    let schema: AppliedSchema

    /// The time as records have it, of a timestamp.
    static func timeText(_ column: String) -> PostgresQuery {
        PostgresQuery(stringLiteral: #"to_char(\#(column), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"#)
    }

    /// Locks the author and all whom the call names, so that none of them can go meanwhile.
    ///
    /// From here on the transaction keeps its plans. PostgreSQL makes a new plan for each array that it can count, which
    /// takes longer than to run it. Here it can't count, because the array comes from a subquery.
    ///
    /// - Parameters:
    ///   - userID: The author.
    ///   - named: The ids of members.
    /// - Returns: Who they are.
    /// - Throws: `SessionError.ended` when the author's account is gone or disabled, `SchemaChanged`, `PostgresError`.
    func author(userID: Int, naming named: Set<String>) async throws -> RecordAuthor {
        let rows = try await connection.query(
            """
            SELECT \(part: SchemaStore.versionColumn) AS schema_version, users.id::bigint AS user_id, member_id,
                disabled_at IS NOT NULL AS is_disabled,
                (SELECT id FROM streams WHERE user_id = users.id) AS stream_id,
                EXISTS (SELECT FROM blocks WHERE user_id = users.id AND blocked_user_id = \(userID)) AS is_blocking,
                ARRAY(
                    SELECT role_id::bigint FROM role_members JOIN roles ON roles.id = role_id
                    WHERE user_id = \(userID) AND disabled_at IS NULL
                ) AS role_ids,
                \(part: Self.timeText("now() AT TIME ZONE 'UTC'")) AS now,
                set_config('plan_cache_mode', 'force_generic_plan', true)
            FROM users
            WHERE member_id = ANY((SELECT \(Array(named)) || member_id FROM users WHERE id = \(userID))::text[])
            ORDER BY users.id FOR KEY SHARE OF users
            """
        )
        var (members, disabled): ([String: MemberStream], [String: MemberStream]) = ([:], [:])
        var blocking: Set<String> = []
        for row in rows {
            let member = MemberStream(
                userID: try row.decode("user_id"),
                id: try row.decode("member_id"),
                streamID: try row.decode("stream_id")
            )
            if try row.decode("is_disabled") {
                disabled[member.id] = member
                continue
            }
            members[member.id] = member
            if try row.decode("is_blocking") { blocking.insert(member.id) }
        }
        guard let own = members.values.first(where: { $0.userID == userID }), let row = rows.first else {
            throw SessionError.ended
        }
        guard try row.decode("schema_version") == schema.version else { throw SchemaChanged() }
        return RecordAuthor(
            member: own,
            roleIDs: Set(try row.decode("role_ids", as: [Int].self)),
            named: members,
            disabled: disabled,
            blocking: blocking,
            now: try row.decode("now")
        )
    }

    /// The name of a record, as the database has it.
    struct Name: Hashable {
        let collectionID: Int
        /// 0 for records that are in no inbox.
        let recipientID: Int
        let id: String
    }

    /// Locks records by their names.
    ///
    /// - Parameters:
    ///   - names: The names.
    ///   - ends: Whether they may be deleted, or get an end.
    ///   - authorID: The user who changes them.
    /// - Returns: Those that are there, in the order of their keys. Some may have expired.
    /// - Throws: `PostgresError`.
    func lock(_ names: Set<Name>, ends: Bool, by authorID: Int) async throws -> [ExistingRecord] {
        if names.isEmpty { return [] }
        let names = Array(names)
        let found: PostgresQuery = """
            unnest(\(names.map(\.collectionID)), \(names.map(\.recipientID)), \(names.map(\.id)))
                AS asked (collection_id, recipient_id, id)
            JOIN records USING (collection_id, recipient_id, id)
            """
        return try await lock(from: found, ends: ends, by: [authorID])
    }

    /// Locks records by their keys, to delete them.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - names: The names of others that are locked, too.
    ///   - authorIDs: The users by whose doing they change; nil for the records' owners.
    /// - Returns: Those that are there, in the order of their keys.
    /// - Throws: `PostgresError`.
    func lock(
        keys: [Int],
        and names: Set<Name> = [],
        by authorIDs: [Int]? = nil
    ) async throws -> [ExistingRecord] {
        let names = Array(names)
        let found: PostgresQuery = """
            (
                SELECT unnest(\(keys)) AS key
                UNION SELECT key FROM unnest(\(names.map(\.collectionID)), \(names.map(\.recipientID)), \(names.map(\.id)))
                    AS asked (collection_id, recipient_id, id) JOIN records USING (collection_id, recipient_id, id)
                WHERE deleted_at IS NULL
            ) AS asked JOIN records USING (key)
            """
        return try await lock(from: found, ends: true, by: authorIDs)
    }

    private func lock(
        from source: PostgresQuery,
        ends: Bool,
        by authorIDs: [Int]?
    ) async throws -> [ExistingRecord] {
        let rows = try await connection.query(
            """
            SELECT records.key, records.id, records.collection_id::bigint AS collection_id, recipient_id::bigint AS recipient_id,
                owner_id::bigint AS owner_id, owner.member_id AS owner_member_id, streams.id AS owner_stream_id,
                data::text AS data, records.byte_count::bigint AS byte_count, sent_byte_count::bigint AS sent_byte_count,
                encode(sent_digest, 'hex') AS sent_digest,
                \(part: Self.timeText("sent_expires_at")) AS sent_expires_at, records.version,
                \(part: Self.timeText("records.created_at")) AS created_at,
                \(part: Self.timeText("records.updated_at")) AS updated_at, \(part: Self.timeText("expires_at")) AS expires_at,
                coalesce(expires_at <= now() AT TIME ZONE 'UTC', false) AS is_expired
            FROM \(part: source) JOIN users AS owner ON owner.id = owner_id JOIN streams ON streams.user_id = owner_id
            WHERE deleted_at IS NULL ORDER BY records.key
            \(part: ends ? "FOR UPDATE OF records" : "FOR NO KEY UPDATE OF records")
            """
        )
        var records = try rows.map(ExistingRecord.init)
        if records.isEmpty { return [] }
        let authorIDs = authorIDs ?? Array(Set(records.map(\.ownerID)))
        let positions = Dictionary(uniqueKeysWithValues: records.enumerated().map { ($1.key, $0) })
        let grants = try await connection.query(
            """
            SELECT record_key, stream_id, rights::bigint AS rights, grants.seq, shown_seq, member_id,
                ARRAY(
                    SELECT blocked_user_id::bigint FROM blocks
                    WHERE blocks.user_id = streams.user_id AND blocked_user_id = ANY(\(authorIDs))
                ) AS blocked
            FROM grants LEFT JOIN streams ON streams.id = stream_id LEFT JOIN users ON users.id = streams.user_id
            WHERE grants.collection_id = ANY(\(Array(Set(records.map(\.collectionID)))))
                AND record_key = ANY(\(records.map(\.key)))
            """
        )
        for row in grants {
            guard let position = positions[try row.decode("record_key")] else { continue }
            let stream: Int = try row.decode("stream_id")
            records[position].grants[stream] = RecordGrant(
                rights: Rights(rawValue: try row.decode("rights")),
                number: try row.decodeIfPresent("seq"),
                shownNumber: try row.decodeIfPresent("shown_seq")
            )
            records[position].memberIDs[stream] = try row.decodeIfPresent("member_id")
            let blocked: [Int] = try row.decode("blocked")
            if !blocked.isEmpty { records[position].blocking[stream] = Set(blocked) }
        }
        return records
    }

    /// Locks streams, after everything else.
    ///
    /// - Parameters:
    ///   - ids: The streams.
    ///   - newCount: How many keys to take.
    /// - Returns: Their counters, and keys of new records.
    /// - Throws: `PostgresError`.
    func lockStreams(_ ids: Set<Int>, newCount: Int) async throws -> (counters: StreamCounters, keys: [Int]) {
        let rows = try await connection.query(
            """
            SELECT id, seq, record_count, inbox_count, byte_count,
                ARRAY(SELECT nextval('records_key_seq') FROM generate_series(1, \(newCount))) AS keys
            FROM streams WHERE id = ANY(\(ids.sorted())) ORDER BY id FOR NO KEY UPDATE
            """
        )
        var counters: [Int: StreamCounters.Counter] = [:]
        for row in rows {
            counters[try row.decode("id")] = StreamCounters.Counter(
                number: try row.decode("seq"),
                recordCount: try row.decode("record_count"),
                inboxCount: try row.decode("inbox_count"),
                byteCount: try row.decode("byte_count")
            )
        }
        let keys: [Int] = try rows.first.map { try $0.decode("keys") } ?? []
        return (StreamCounters(counters), keys.sorted())
    }

    /// The photos of records, as their readers get them.
    ///
    /// - Parameter keys: The records' keys.
    /// - Returns: By key.
    /// - Throws: `PostgresError`.
    func photos(of keys: [Int]) async throws -> [Int: [StoredRecord.PhotoField]] {
        let rows = try await connection.query(
            """
            SELECT record_key, field, random_id, coalesce(url_series, 0) AS url_series
            FROM photo_references JOIN photos ON photos.id = photo_id LEFT JOIN photo_libraries USING (user_id)
            WHERE record_key = ANY(\(keys)) ORDER BY field
            """
        )
        return try rows.reduce(into: [:]) { photos, row in
            photos[try row.decode("record_key"), default: []].append(
                StoredRecord.PhotoField(
                    field: try row.decode("field"),
                    randomID: try row.decode("random_id"),
                    urlSeries: try row.decode("url_series")
                )
            )
        }
    }
}

extension ExistingRecord {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            key: try row.decode("key"),
            id: try row.decode("id"),
            collectionID: try row.decode("collection_id"),
            recipientID: try row.decode("recipient_id"),
            ownerID: try row.decode("owner_id"),
            owner: MemberStream(
                userID: try row.decode("owner_id"),
                id: try row.decode("owner_member_id"),
                streamID: try row.decode("owner_stream_id")
            ),
            data: try row.decode("data"),
            byteCount: try row.decode("byte_count"),
            sent: try row.decodeIfPresent("sent_byte_count").map { byteCount in
                Sent(
                    byteCount: byteCount,
                    digest: try row.decodeIfPresent("sent_digest"),
                    expiresAt: try row.decodeIfPresent("sent_expires_at")
                )
            },
            version: try row.decode("version"),
            createdAt: try row.decode("created_at"),
            updatedAt: try row.decode("updated_at"),
            expiresAt: try row.decodeIfPresent("expires_at"),
            isExpired: try row.decode("is_expired")
        )
    }
}
