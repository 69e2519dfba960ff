import Postgres

extension UserStore {
    /// Removes an account with everything that belongs to it: all or nothing.
    ///
    /// The keys of its photos go into `object_deletions` for the sweeper. Its audit events lose the addresses and the
    /// requests' ids.
    ///
    /// - Parameters:
    ///   - userID: The account's id.
    ///   - passwordHash: The hash that the password was checked against; nil for an administrator, who needs none.
    ///   - sessionID: The session of the request; nil for an administrator.
    /// - Returns: Whether it did. False when the account is gone or has another password.
    /// - Throws: `SessionError.ended` when the session has ended meanwhile, `PostgresError`.
    package func delete(userID: Int, passwordHash: String?, sessionID: Int?) async throws -> Bool {
        try await postgres.withTransaction { connection in
            // Sign-ins and uploads wait for this lock, and then find no account.
            let locked = try await connection.query(
                """
                SELECT id FROM users
                WHERE id = \(userID) AND (\(passwordHash)::text IS NULL OR password_hash = \(passwordHash)::text) FOR UPDATE
                """
            )
            guard !locked.isEmpty else { return false }
            try await PhotoStore.removeAll(ofUser: userID, on: connection)
            // All sessions end first, so that none can add an event after the addresses were removed.
            try await SessionStore.endAll(ofUser: userID, by: sessionID, on: connection)
            try await AuditStore.forgetSources(ofUser: userID, on: connection)
            try await AuditStore.add(.accountDeleted, userID: userID, from: nil, on: connection)
            try await BlockStore.removeAll(ofUser: userID, on: connection)
            try await connection.execute("DELETE FROM users WHERE id = \(userID)")
            return true
        }
    }
}
