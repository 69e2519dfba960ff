import Postgres

/// A reader of changes, as parts of statements.
struct ChangeReader: Sendable {
    let userID: Int
    /// The session that must not have ended; nil for an administrator.
    let sessionID: Int?

    /// Selects the user's streams.
    ///
    /// Each is looked up by its index. Without a limit, a plan may go through the streams of all users.
    var streams: PostgresQuery {
        """
        SELECT id FROM streams WHERE user_id = \(userID)
        UNION ALL SELECT stream.id FROM collections
            CROSS JOIN LATERAL (SELECT id FROM streams WHERE collection_id = collections.id LIMIT 1) AS stream
        UNION ALL \(part: Self.roleStreams(of: "\(userID)"))
        """
    }

    /// Selects the streams of a user's roles.
    private static func roleStreams(of userID: PostgresQuery) -> PostgresQuery {
        """
        SELECT stream.id FROM role_members JOIN roles ON roles.id = role_members.role_id
            CROSS JOIN LATERAL (SELECT id FROM streams WHERE streams.role_id = roles.id LIMIT 1) AS stream
            WHERE role_members.user_id = \(part: userID) AND disabled_at IS NULL
        """
    }

    /// Selects when the session ends; NULL for one that has ended, or whose account was deleted or disabled.
    var session: PostgresQuery {
        guard let sessionID else { return "NULL::timestamp" }
        return Self.session("\(sessionID)", of: "\(userID)")
    }

    private static func session(_ id: PostgresQuery, of userID: PostgresQuery) -> PostgresQuery {
        """
        (
            SELECT expires_at FROM sessions JOIN users ON users.id = user_id
            WHERE sessions.id = \(part: id) AND user_id = \(part: userID) AND disabled_at IS NULL
        )
        """
    }

    /// Selects the readers, as indices of an array, whose session has ended or whose roles have other streams than they know.
    ///
    /// Roles are compared only for readers with known streams.
    static func changed(since known: [(reader: ChangeReader, roleStreams: Set<Int>?)]) -> PostgresQuery {
        let roleStreams = known.map { $0.roleStreams?.sorted().map(String.init).joined(separator: ",") }
        let haveOtherRoles: PostgresQuery = """
            role_streams IS NOT NULL AND role_streams <> (
                SELECT coalesce(string_agg(id::text, ',' ORDER BY id), '')
                FROM (\(part: self.roleStreams(of: "asked.user_id"))) AS present
            )
            """
        // A plan without them is opened sooner.
        let comparesRoles = known.contains { $0.roleStreams != nil }
        return """
            ARRAY(
                SELECT number FROM unnest(
                    \(hidden: Array(known.indices)), \(hidden: known.map(\.reader.userID)),
                    \(hidden: known.map(\.reader.sessionID)), \(hidden: roleStreams)
                ) AS asked (number, user_id, session_id, role_streams)
                WHERE session_id IS NOT NULL AND \(part: session("asked.session_id", of: "asked.user_id")) IS NULL
                    OR \(part: comparesRoles ? haveOtherRoles : "false")
            )
            """
    }
}
