import Postgres
import RecordSchema
import SelfieAccounts
import SelfiePhotos

/// The statements of a transaction that writes records: what is read and locked before the planner decides.
///
/// Rows are locked in the order of users, records by key, the collection that counts, photos and streams by id. Another order
/// could make a deadlock. Targets of references are locked without waiting.
struct RecordTransaction {
    let connection: PostgresConnection
    let schema: AppliedSchema

    /// Runs work of the service itself, by the present schema.
    ///
    /// - Throws: ``SchemaLockTaken`` where it does not wait while a schema is being applied, what the body throws.
    static func run<Result>(
        on postgres: PostgresClient,
        _ schemas: SchemaCache,
        waits: Bool = true,
        _ body: (RecordTransaction) async throws -> Result
    ) async throws -> Result {
        try await schemas.withSchema { schema in
            try await postgres.withTransaction { connection in
                if waits {
                    try await SchemaLock.share(on: connection)
                } else {
                    try await SchemaLock.shareAtOnce(on: connection)
                }
                let version = try await connection.query("SELECT \(part: SchemaStore.versionColumn) AS version")
                guard try version[0].decode("version") == schema.version else { throw SchemaChanged() }
                return try await body(RecordTransaction(connection: connection, schema: schema))
            }
        }
    }

    /// A timestamp in the form that records have.
    static func timeText(_ column: String) -> PostgresQuery {
        PostgresQuery(stringLiteral: #"to_char(\#(column), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"#)
    }

    /// A timestamp as milliseconds since 1970.
    static func milliseconds(_ column: String) -> PostgresQuery {
        PostgresQuery(stringLiteral: "floor(extract(epoch FROM \(column)) * 1000)::bigint")
    }

    /// Locks the author and all members that the call names, so that none of them can be deleted meanwhile.
    ///
    /// From here on the transaction keeps its plans. PostgreSQL makes a new plan for each array that it can count.
    /// Planning takes longer than running. Here it can't count, because the array comes from a subquery.
    ///
    /// - Throws: `SessionError.ended` when the author's account is deleted or disabled, `SchemaChanged`, `PostgresError`.
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
                \(part: Self.milliseconds("now()")) AS now,
                set_config('plan_cache_mode', 'force_generic_plan', true)
            FROM users
            WHERE member_id = ANY((SELECT \(Array(named)) || member_id FROM users WHERE id = \(userID))::text[])
            ORDER BY users.id FOR KEY SHARE OF users
            """
        )
        let members = try rows.map { row in
            RecordAuthor.Named(
                member: MemberStream(
                    userID: try row.decode("user_id"),
                    id: try row.decode("member_id"),
                    streamID: try row.decode("stream_id")
                ),
                isDisabled: try row.decode("is_disabled"),
                isBlocking: try row.decode("is_blocking")
            )
        }
        guard let own = members.first(where: { $0.member.userID == userID && !$0.isDisabled }), let row = rows.first
        else {
            throw SessionError.ended
        }
        guard try row.decode("schema_version") == schema.version else { throw SchemaChanged() }
        return RecordAuthor(
            member: own.member,
            roleIDs: Set(try row.decode("role_ids", as: [Int].self)),
            naming: members,
            now: Timestamp(milliseconds: try row.decode("now"))
        )
    }

    /// Locks existing records, by their names and keys, in the order of their keys.
    ///
    /// Some may have expired.
    ///
    /// It reads blocks of the users who change the records, or else of the records' owners.
    func lock(
        _ names: Set<RecordName> = [],
        keys: [Int] = [],
        ends: Bool = true,
        by authorIDs: [Int]? = nil
    ) async throws -> [ExistingRecord] {
        if names.isEmpty, keys.isEmpty { return [] }
        let names = Array(names)
        let rows = try await connection.query(
            """
            SELECT records.key, records.id, records.collection_id::bigint AS collection_id,
                nullif(recipient_id, 0)::bigint AS recipient_id, recipient.id AS recipient_stream_id,
                owner_id::bigint AS owner_id, owner.member_id AS owner_member_id, streams.id AS owner_stream_id,
                data::text AS data, records.byte_count::bigint AS byte_count, sent_byte_count::bigint AS sent_byte_count,
                encode(sent_digest, 'hex') AS sent_digest,
                \(part: Self.timeText("sent_expires_at")) AS sent_expires_at, records.version,
                \(part: Self.milliseconds("records.created_at")) AS created_at,
                \(part: Self.milliseconds("records.updated_at")) AS updated_at,
                \(part: Self.milliseconds("expires_at")) AS expires_at,
                coalesce(expires_at <= now() AT TIME ZONE 'UTC', false) AS is_expired
            FROM (
                SELECT key FROM unnest(\(names.map(\.collectionID)), \(names.map(\.recipientID)), \(names.map(\.id)))
                    AS asked (collection_id, recipient_id, id)
                JOIN records ON records.collection_id = asked.collection_id
                    AND records.recipient_id = coalesce(asked.recipient_id, 0) AND records.id = asked.id
                WHERE deleted_at IS NULL
                UNION SELECT unnest(\(keys))
            ) AS asked JOIN records USING (key) JOIN users AS owner ON owner.id = owner_id
                JOIN streams ON streams.user_id = owner_id
                LEFT JOIN streams AS recipient ON recipient.user_id = nullif(recipient_id, 0)
            WHERE deleted_at IS NULL ORDER BY records.key
            \(part: ends ? "FOR UPDATE OF records" : "FOR NO KEY UPDATE OF records")
            """
        )
        var records = try rows.map(ExistingRecord.init)
        if records.isEmpty { return [] }
        let authorIDs = authorIDs ?? Array(Set(records.map(\.owner.userID)))
        let positions = Dictionary(uniqueKeysWithValues: records.enumerated().map { ($1.key, $0) })
        let grants = try await connection.query(
            """
            SELECT record_key, stream_id, rights::bigint AS rights, grants.seq, shown_seq, member_id,
                ARRAY(
                    SELECT blocked_user_id::bigint FROM blocks
                    WHERE blocks.user_id = streams.user_id AND blocked_user_id = ANY(\(authorIDs))
                ) AS blocked
            FROM grants LEFT JOIN streams ON streams.id = stream_id LEFT JOIN users ON users.id = streams.user_id
            WHERE grants.collection_id = ANY(\(Array(Set(records.map(\.name.collectionID)))))
                AND record_key = ANY(\(records.map(\.key)))
            """
        )
        for row in grants {
            guard let position = positions[try row.decode("record_key")] else { continue }
            records[position].grants[try row.decode("stream_id")] = RecordGrant(
                rights: Rights(rawValue: try row.decode("rights")),
                number: try row.decodeIfPresent("seq"),
                shownNumber: try row.decodeIfPresent("shown_seq"),
                memberID: try row.decodeIfPresent("member_id"),
                blockedIDs: Set(try row.decode("blocked", as: [Int].self))
            )
        }
        return records
    }

    /// The photos of records, as their readers get them.
    func photos(of keys: [Int]) async throws -> [Int: [StoredRecord.PhotoField]] {
        if keys.isEmpty { return [:] }
        let rows = try await connection.query(
            """
            SELECT record_key, field, element <> '' AS is_element, random_id, coalesce(url_series, 0) AS url_series
            FROM photo_references JOIN photos ON photos.id = photo_id LEFT JOIN photo_libraries USING (user_id)
            WHERE record_key = ANY(\(keys)) ORDER BY field, element
            """
        )
        return try rows.reduce(into: [:]) { photos, row in
            photos[try row.decode("record_key"), default: []].append(
                StoredRecord.PhotoField(
                    field: try row.decode("field"),
                    isElement: try row.decode("is_element"),
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
            name: RecordName(
                collectionID: try row.decode("collection_id"),
                recipientID: try row.decodeIfPresent("recipient_id"),
                id: try row.decode("id")
            ),
            owner: MemberStream(
                userID: try row.decode("owner_id"),
                id: try row.decode("owner_member_id"),
                streamID: try row.decode("owner_stream_id")
            ),
            recipientStream: try row.decodeIfPresent("recipient_stream_id"),
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
            createdAt: Timestamp(milliseconds: try row.decode("created_at")),
            updatedAt: Timestamp(milliseconds: try row.decode("updated_at")),
            expiresAt: try row.decodeIfPresent("expires_at").map(Timestamp.init(milliseconds:)),
            isExpired: try row.decode("is_expired")
        )
    }
}
