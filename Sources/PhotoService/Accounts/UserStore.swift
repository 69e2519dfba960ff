import Postgres

/// The table `users`.
struct UserStore: Sendable {
    let postgres: PostgresClient

    /// The account of an e-mail, compared without regard to case.
    func find(email: String) async throws -> User? {
        // PostgreSQL's text holds no NUL, so no account has one.
        guard !email.unicodeScalars.contains("\0") else { return nil }
        let rows = try await postgres.query(
            """
            SELECT id, first_name, last_name, email, password_hash
            FROM users WHERE lower(btrim(email)) = lower(\(NewUser.normalized(email)))
            """
        )
        return try rows.first.map(Self.user)
    }

    /// The account of an id.
    func find(id: Int) async throws -> User? {
        let rows = try await postgres.query(
            "SELECT id, first_name, last_name, email, password_hash FROM users WHERE id = \(id)"
        )
        return try rows.first.map(Self.user)
    }

    /// Adds an account; of parallel calls with one e-mail, one succeeds.
    ///
    /// - Parameters:
    ///   - user: The account.
    ///   - passwordHash: The hash of its password.
    /// - Returns: Whether it was added; false when the e-mail has an account.
    /// - Throws: `PostgresError`.
    func add(_ user: NewUser, passwordHash: String) async throws -> Bool {
        let count = try await postgres.execute(
            """
            INSERT INTO users (first_name, last_name, email, password_hash)
            VALUES (\(user.firstName), \(user.lastName), \(user.email), \(passwordHash))
            ON CONFLICT (lower(btrim(email))) DO NOTHING
            """
        )
        return count == 1
    }

    /// Puts a stronger hash of the same password in place of the one it was checked against.
    ///
    /// - Returns: Whether it did; false when the password was changed meanwhile.
    /// - Throws: `PostgresError`.
    func renewHash(of user: User, to hash: String) async throws -> Bool {
        let count = try await postgres.execute(
            """
            UPDATE users SET password_hash = \(hash), updated_at = now() AT TIME ZONE 'UTC'
            WHERE id = \(user.id) AND password_hash = \(user.passwordHash)
            """
        )
        return count == 1
    }

    /// Changes the password, ends all sessions, and begins a new one: all of it or nothing.
    ///
    /// - Parameters:
    ///   - user: The account, with the hash that the old password was checked against.
    ///   - hash: The new password's hash.
    ///   - issued: The new session's token.
    /// - Returns: Whether it did; false when the password was changed meanwhile.
    /// - Throws: `PostgresError`.
    func changePassword(of user: User, to hash: String, beginning issued: IssuedToken) async throws -> Bool {
        try await postgres.withTransaction { connection in
            let count = try await connection.execute(
                """
                UPDATE users SET password_hash = \(hash), updated_at = now() AT TIME ZONE 'UTC'
                WHERE id = \(user.id) AND password_hash = \(user.passwordHash)
                """
            )
            guard count == 1 else { return false }
            try await connection.execute("DELETE FROM sessions WHERE user_id = \(user.id)")
            try await connection.execute(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at)
                VALUES (\(user.id), \(IssuedToken.digest(of: issued.token)), \(issued.expiry))
                """
            )
            return true
        }
    }

    private static func user(_ row: PostgresRow) throws -> User {
        User(
            id: try row.decode("id"),
            firstName: try row.decode("first_name"),
            lastName: try row.decode("last_name"),
            email: try row.decode("email"),
            passwordHash: try row.decode("password_hash")
        )
    }
}
