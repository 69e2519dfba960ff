import Postgres

/// The table `sessions`.
struct SessionStore: Sendable {
    let postgres: PostgresClient

    /// The session that a token names, expired or not.
    func find(token: String) async throws -> Session? {
        let rows = try await postgres.query(
            "SELECT id, user_id, expires_at FROM sessions WHERE token_digest = \(IssuedToken.digest(of: token))"
        )
        return try rows.first.map { row in
            Session(id: try row.decode("id"), userID: try row.decode("user_id"), expiry: try row.decode("expires_at"))
        }
    }

    /// Begins a session, unless the password that was checked is no longer the user's.
    ///
    /// The user's row is locked meanwhile, so that a password reset at the same time either ends this session or keeps
    /// it from beginning.
    ///
    /// - Parameters:
    ///   - issued: The token.
    ///   - userID: Whose session it is.
    ///   - passwordHash: The hash that the password was checked against.
    /// - Returns: Whether the session began.
    /// - Throws: `PostgresError`.
    func begin(_ issued: IssuedToken, userID: Int, passwordHash: String) async throws -> Bool {
        let count = try await postgres.execute(
            """
            INSERT INTO sessions (user_id, token_digest, expires_at)
            SELECT id, \(IssuedToken.digest(of: issued.token)), \(issued.expiry)
            FROM users WHERE id = \(userID) AND password_hash = \(passwordHash) FOR SHARE
            """
        )
        return count == 1
    }

    /// Ends one session.
    func end(id: Int) async throws {
        try await postgres.execute("DELETE FROM sessions WHERE id = \(id)")
    }

    /// Ends all sessions of a user.
    func endAll(ofUser userID: Int) async throws {
        try await postgres.execute("DELETE FROM sessions WHERE user_id = \(userID)")
    }
}
