import Postgres

extension UserStore {
    /// Removes an account with all that belongs to it: all of it or nothing.
    ///
    /// Its photos' objects are named in `object_deletions`, for the sweeper. Its audit events lose the addresses and the
    /// requests' ids.
    ///
    /// - Parameters:
    ///   - userID: Whose account.
    ///   - passwordHash: The hash that the password was checked against; nil for an administrator, who needs none.
    ///   - sessionID: The session that asks for it; nil for an administrator.
    /// - Returns: Whether it did; false when there is no such account any more, or with another password.
    /// - Throws: `SessionError.ended` when the session has ended meanwhile, `PostgresError`.
    package func delete(userID: Int, passwordHash: String?, sessionID: Int?) async throws -> Bool {
        try await postgres.withTransaction { connection in
            // Sign-ins and uploads that are under way wait for the lock, and then find no account.
            let locked = try await connection.query(
                """
                SELECT id FROM users
                WHERE id = \(userID) AND (\(passwordHash)::text IS NULL OR password_hash = \(passwordHash)::text) FOR UPDATE
                """
            )
            guard !locked.isEmpty else { return false }
            try await PhotoStore.removeAll(ofUser: userID, on: connection)
            // No session that ends meanwhile can add an event behind the statement that removes the addresses.
            try await SessionStore.endAll(ofUser: userID, by: sessionID, on: connection)
            try await AuditStore.forgetSources(ofUser: userID, on: connection)
            try await AuditStore.add(.accountDeleted, userID: userID, from: nil, on: connection)
            try await connection.execute("DELETE FROM users WHERE id = \(userID)")
            return true
        }
    }
}
