import Postgres
import RecordSchema

/// Look-ups of a transaction before it decides.
extension RecordTransaction {
    /// Messages that were sent to an inbox and deleted there.
    ///
    /// Of several with one id, the author's own counts.
    func deletedMessages(
        _ ids: [String],
        in collection: AppliedCollection,
        of recipientID: Int,
        askedBy authorID: Int
    ) async throws -> [String: SentRecord] {
        if ids.isEmpty { return [:] }
        // An id may have been used very often by the recipient. A sender can use it once.
        let isDeleted: PostgresQuery = """
            collection_id = \(collection.id) AND recipient_id = \(recipientID) AND recipient_id > 0 AND deleted_at IS NOT NULL
            """
        let rows = try await connection.query(
            """
            SELECT records.id, owner_id::bigint AS owner_id, encode(sent_digest, 'hex') AS sent_digest,
                \(part: Self.timeText("created_at")) AS created_at,
                \(part: Self.timeText("sent_expires_at")) AS sent_expires_at
            FROM unnest(\(ids)) AS asked (id) CROSS JOIN LATERAL (
                (SELECT * FROM records WHERE \(part: isDeleted) AND records.id = asked.id AND owner_id = \(authorID) LIMIT 1)
                UNION ALL (SELECT * FROM records WHERE \(part: isDeleted) AND records.id = asked.id LIMIT 1)
                LIMIT 1
            ) AS records
            """
        )
        return try rows.reduce(into: [:]) { messages, row in
            messages[try row.decode("id")] = SentRecord(
                ownerID: try row.decode("owner_id"),
                digest: try row.decodeIfPresent("sent_digest"),
                createdAt: try row.decode("created_at"),
                expiresAt: try row.decodeIfPresent("sent_expires_at")
            )
        }
    }

    /// The key of a record that may not be deleted, since a remaining record refers to it; nil for none.
    ///
    /// Only references set by its owner or a writer count. So no other user can prevent its deletion. References that a
    /// new record set in its parent do not count. Nor do those in records sent to others: their sender would notice
    /// what the recipient does with them.
    func referredTo(_ keys: [Int], besidesBy going: [Int]) async throws -> Int? {
        let rules = schema.parentRules
        let rows = try await connection.query(
            """
            SELECT target.key FROM records AS target CROSS JOIN LATERAL (
                SELECT target.owner_id::bigint AS user_id
                UNION SELECT coalesce(streams.user_id, role_members.user_id)
                FROM grants JOIN streams ON streams.id = stream_id
                    LEFT JOIN (role_members JOIN roles ON roles.id = role_id AND disabled_at IS NULL) USING (role_id)
                WHERE grants.collection_id = target.collection_id AND record_key = target.key AND rights & 2 > 0
            ) AS writer
            JOIN record_references AS reference ON target_key = target.key AND reference.owner_id = writer.user_id
            JOIN records ON records.key = reference.record_key AND \(part: RecordReader.isThere("records"))
            WHERE target.key = ANY(\(keys)) AND reference.record_key <> ALL(\(going))
                AND records.recipient_id IN (0, records.owner_id)
                AND (target.collection_id, records.collection_id, field) NOT IN (
                    SELECT * FROM unnest(\(rules.map(\.child.id)), \(rules.map(\.parent.id)), \(rules.map(\.field)))
                )
            ORDER BY target.key LIMIT 1
            """
        )
        return try rows.first?.decode("key")
    }

    /// The names of parents whose last new record is one of these.
    ///
    /// They may be deleted before they are locked.
    func parents(naming children: PostgresQuery) async throws -> Set<RecordName> {
        let rules = schema.parentRules
        if rules.isEmpty { return [] }
        let rows = try await connection.query(
            """
            SELECT parent.collection_id::bigint AS collection_id, parent.id
            FROM (SELECT key, collection_id FROM records WHERE \(part: children) AND deleted_at IS NULL) AS child
            JOIN unnest(\(rules.map(\.child.id)), \(rules.map(\.parent.id)), \(rules.map(\.field)))
                AS rule (child_id, parent_id, field) ON child_id = child.collection_id
            JOIN record_references AS reference ON target_key = child.key AND reference.field = rule.field
            JOIN records AS parent ON parent.key = reference.record_key AND parent.collection_id = parent_id
                AND parent.deleted_at IS NULL
            """
        )
        return try rows.reduce(into: []) { names, row in
            names.insert(RecordName(collectionID: try row.decode("collection_id"), id: try row.decode("id")))
        }
    }
}
