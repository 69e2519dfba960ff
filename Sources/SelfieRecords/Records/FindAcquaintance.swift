import Postgres
import RecordSchema

/// Finds out whether a user meets a member in records.
package struct FindAcquaintance: Sendable {
    let postgres: PostgresClient
    let schemas: SchemaCache

    /// How many records of each of the two are looked at for one that both can read.
    private static let maxSharedCount = 10_000

    /// Whether a member has sent what lies in a user's inbox, or owns, writes or reads a record that the user can read.
    ///
    /// What all members read makes its owners known, and nobody else. Fellow readers of a record are known by it if it is one of
    /// the last 10,000 of its collection that one of the two can read.
    ///
    /// - Parameters:
    ///   - memberID: The member's id.
    ///   - userID: The user.
    /// - Returns: Whether it is so.
    /// - Throws: `PostgresError`.
    package func callAsFunction(_ memberID: String, of userID: Int) async throws -> Bool {
        try await schemas.withSchema { schema in
            let row = try await postgres.read(Self.statement(memberID, userID, schema.allCollections))[0]
            return try row.decode("is_known")
        }
    }

    static func statement(_ memberID: String, _ userID: Int, _ collections: [AppliedCollection]) -> PostgresQuery {
        func ids(_ access: Access) -> [Int] { collections.filter { $0.definition.access == access }.map(\.id) }
        let shared = collections.filter { $0.definition.access == .shared }
        return """
            WITH me AS MATERIALIZED (SELECT user_id, id AS stream_id FROM streams WHERE user_id = \(userID)),
            other AS MATERIALIZED (
                SELECT users.id AS user_id, streams.id AS stream_id FROM users JOIN streams ON streams.user_id = users.id
                WHERE member_id = \(memberID) AND disabled_at IS NULL
            ),
            shared AS MATERIALIZED (
                SELECT id, role_id, readers_id FROM unnest(
                    \(shared.map(\.id)), \(shared.map { $0.role?.id }), \(shared.map { $0.readers?.id })
                ) AS shared (id, role_id, readers_id)
                WHERE \(part: hasRole("me"))
            )
            SELECT EXISTS (SELECT FROM other) AND (
                EXISTS (
                    SELECT FROM stream_authors JOIN me USING (stream_id)
                    WHERE author_id = (SELECT user_id FROM other) AND record_count > 0
                ) AND EXISTS (
                    SELECT FROM records WHERE owner_id = (SELECT user_id FROM other)
                        AND collection_id = ANY(\(ids(.acl) + ids(.inbox))) AND recipient_id IN (0, \(userID))
                        AND \(part: RecordReader.isThere) AND EXISTS (
                            SELECT FROM grants WHERE grants.collection_id = records.collection_id AND record_key = records.key
                                AND stream_id = (SELECT stream_id FROM me) AND rights % 2 = 1
                        )
                )
                OR EXISTS (
                    SELECT FROM records WHERE owner_id = (SELECT user_id FROM other)
                        AND collection_id IN (SELECT id FROM shared UNION ALL SELECT unnest(\(ids(.published))))
                        AND \(part: RecordReader.isThere)
                )
                OR EXISTS (
                    SELECT FROM shared WHERE \(part: hasRole("other")) AND EXISTS (
                        SELECT FROM records WHERE collection_id = shared.id AND recipient_id = 0 AND \(part: RecordReader.isThere)
                    )
                )
                OR \(part: bothRead("me", "other", in: ids(.acl))) OR \(part: bothRead("other", "me", in: ids(.acl)))
            ) AS is_known
            """
    }

    /// The condition that one of the two has a role that reads a collection of `shared`.
    private static func hasRole(_ user: StaticString) -> PostgresQuery {
        PostgresQuery(
            stringLiteral: """
                EXISTS (
                    SELECT FROM role_members JOIN roles ON roles.id = role_members.role_id
                    WHERE user_id = (SELECT user_id FROM \(user)) AND disabled_at IS NULL
                        AND role_members.role_id IN (shared.role_id, shared.readers_id)
                )
                """
        )
    }

    /// The condition that one of the last records that one of the two reads is read by the other one, too.
    private static func bothRead(
        _ one: StaticString,
        _ other: StaticString,
        in collections: [Int]
    ) -> PostgresQuery {
        let (one, other) = (PostgresQuery(stringLiteral: "\(one)"), PostgresQuery(stringLiteral: "\(other)"))
        return """
            EXISTS (
                SELECT FROM unnest(\(collections)) AS collection (id) CROSS JOIN LATERAL (
                    SELECT collection_id, record_key FROM grants
                    WHERE stream_id = (SELECT stream_id FROM \(part: one)) AND collection_id = collection.id AND rights % 2 = 1
                    ORDER BY record_key DESC LIMIT \(maxSharedCount)
                ) AS last CROSS JOIN LATERAL (
                    SELECT FROM grants AS theirs
                    WHERE theirs.collection_id = last.collection_id AND theirs.record_key = last.record_key
                        AND theirs.stream_id = (SELECT stream_id FROM \(part: other)) AND rights % 2 = 1 LIMIT 1
                ) AS both_read CROSS JOIN LATERAL (
                    SELECT FROM records WHERE records.key = last.record_key AND \(part: RecordReader.isThere) LIMIT 1
                ) AS present
            )
            """
    }
}
