import Postgres

/// Who reads changes, as parts of statements.
struct ChangeReader: Sendable {
    /// Nil for what all readers of a stream have in common.
    let userID: Int?
    /// The session that must not have ended; nil for an administrator.
    let sessionID: Int?
    /// The one stream that is read; nil for all of the user's.
    let stream: Int?

    /// A user, by way of all of the user's streams.
    init(userID: Int, sessionID: Int?) {
        (self.userID, self.sessionID, stream) = (userID, sessionID, nil)
    }

    /// All who read a role's or a collection's stream.
    init(ofStream stream: Int) {
        (userID, sessionID, self.stream) = (nil, nil, stream)
    }

    /// Selects the streams.
    ///
    /// Each is looked up by its index. Without a limit, a plan may go through the streams of all users.
    var streams: PostgresQuery {
        if let stream { return "SELECT \(stream)::bigint" }
        return """
            SELECT id FROM streams WHERE user_id = \(userID ?? 0)
            UNION ALL SELECT stream.id FROM collections
                CROSS JOIN LATERAL (SELECT id FROM streams WHERE collection_id = collections.id LIMIT 1) AS stream
            UNION ALL SELECT stream.id FROM role_members JOIN roles ON roles.id = role_members.role_id
                CROSS JOIN LATERAL (SELECT id FROM streams WHERE streams.role_id = roles.id LIMIT 1) AS stream
                WHERE role_members.user_id = \(userID ?? 0) AND disabled_at IS NULL
            """
    }

    /// Selects when the session ends; NULL for one that has ended, or whose account is gone or disabled.
    var session: PostgresQuery {
        guard let sessionID else { return "NULL::timestamp" }
        return Self.session("\(sessionID)", of: "\(userID ?? 0)")
    }

    /// The same for a session and a user that a statement names.
    static func session(_ id: PostgresQuery, of userID: PostgresQuery) -> PostgresQuery {
        """
        (
            SELECT expires_at FROM sessions JOIN users ON users.id = user_id
            WHERE sessions.id = \(part: id) AND user_id = \(part: userID) AND disabled_at IS NULL
        )
        """
    }
}
