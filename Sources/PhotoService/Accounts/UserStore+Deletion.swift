import Postgres

extension UserStore {
    /// Removes an account with all that belongs to it: all of it or nothing.
    ///
    /// Its photos' objects are named in `object_deletions`, for the sweeper. Of its audit events the addresses and the
    /// requests' ids go.
    ///
    /// - Parameters:
    ///   - userID: Whose account.
    ///   - passwordHash: The hash that the password was checked against; nil for who needs none.
    ///   - sessionID: The session that asks for it; nil for who needs none.
    /// - Returns: Whether it did; false when there is no such account any more, or with another password.
    /// - Throws: `ServiceError.tokenAccessDenied` when the session has ended meanwhile, `PostgresError`.
    func delete(userID: Int, passwordHash: String?, sessionID: Int?) async throws -> Bool {
        try await postgres.withTransaction { connection in
            // Sign-ins and uploads that are under way wait for the lock, and then find no account.
            let locked = try await connection.query(
                """
                SELECT id FROM users
                WHERE id = \(userID) AND (\(passwordHash)::text IS NULL OR password_hash = \(passwordHash)::text) FOR UPDATE
                """
            )
            guard !locked.isEmpty else { return false }
            while try await Self.deletePhotos(of: userID, on: connection) {}
            // No session that ends meanwhile can add an event behind the statement that removes the addresses.
            try await Self.endSessions(of: userID, by: sessionID, on: connection)
            while try await Self.forgetSources(of: userID, on: connection) {}
            try await connection.execute(
                """
                INSERT INTO audit_events (event, user_id)
                VALUES (\(AuditEvent.accountDeleted.rawValue), \(userID))
                """
            )
            try await connection.execute("DELETE FROM users WHERE id = \(userID)")
            return true
        }
    }

    /// How many rows one statement changes, so that none takes long however many there are.
    private static let deletionBatchSize = 10_000

    /// Deletes a batch of photos.
    ///
    /// - Returns: Whether there may be more.
    private static func deletePhotos(of userID: Int, on connection: PostgresConnection) async throws -> Bool {
        let count = try await connection.execute(
            """
            WITH removed AS (
                DELETE FROM photos WHERE id IN (
                    SELECT id FROM photos WHERE user_id = \(userID) LIMIT \(deletionBatchSize)
                ) RETURNING random_id, state
            )
            INSERT INTO object_deletions (random_id, due_at)
            SELECT random_id, now() AT TIME ZONE 'UTC' + make_interval(secs =>
                CASE WHEN state = 'pending' THEN \(PhotoStore.pendingInPartsSecondsMax) ELSE 0 END)
            FROM removed
            ON CONFLICT (random_id) DO UPDATE SET due_at = excluded.due_at
            """
        )
        return count == deletionBatchSize
    }

    /// Removes where a batch of events came from.
    ///
    /// - Returns: Whether there may be more.
    private static func forgetSources(of userID: Int, on connection: PostgresConnection) async throws -> Bool {
        let count = try await connection.execute(
            """
            UPDATE audit_events SET address = NULL, request_id = NULL WHERE id IN (
                SELECT id FROM audit_events
                WHERE user_id = \(userID) AND (address IS NOT NULL OR request_id IS NOT NULL)
                LIMIT \(deletionBatchSize)
            )
            """
        )
        return count == deletionBatchSize
    }
}
