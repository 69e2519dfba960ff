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
    static func changed(since known: [(reader: ChangeReader, roleStreams: Set<Int>)]) -> PostgresQuery {
        let sessions = known.indices.filter { known[$0].reader.sessionID != nil }
        let roles = known.indices.flatMap { index in known[index].roleStreams.map { (index, $0) } }
        return """
            ARRAY(
                SELECT number FROM unnest(
                    \(hidden: sessions), \(hidden: sessions.compactMap { known[$0].reader.sessionID }),
                    \(hidden: sessions.map { known[$0].reader.userID })
                ) AS asked (number, session_id, user_id)
                WHERE \(part: session("asked.session_id", of: "asked.user_id")) IS NULL
                UNION SELECT number FROM unnest(\(hidden: roles.map(\.0)), \(hidden: roles.map(\.1))) AS known (number, stream_id)
                FULL JOIN (
                    SELECT number, mine.id AS stream_id
                    FROM unnest(\(hidden: Array(known.indices)), \(hidden: known.map(\.reader.userID))) AS asked (number, user_id)
                    CROSS JOIN LATERAL (\(part: roleStreams(of: "asked.user_id"))) AS mine
                ) AS present USING (number, stream_id)
                WHERE known.stream_id IS NULL OR present.stream_id IS NULL
            )
            """
    }
}
