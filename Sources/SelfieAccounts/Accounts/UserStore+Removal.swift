package import Postgres

/// The row of an account that is being removed.
extension UserStore {
    /// Locks an account that is to be removed, and returns whether it exists, with the password if one is given.
    package static func lock(_ userID: Int, passwordHash: String?, on connection: PostgresConnection) async throws
        -> Bool
    {
        try await !connection.query(
            """
            SELECT id FROM users
            WHERE id = \(userID) AND (\(passwordHash)::text IS NULL OR password_hash = \(passwordHash)::text) FOR UPDATE
            """
        ).isEmpty
    }

    /// Closes an account for good.
    ///
    /// It stays until all that belongs to it is removed.
    package static func close(_ userID: Int, on connection: PostgresConnection) async throws {
        try await connection.execute(
            """
            UPDATE users SET disabled_at = coalesce(disabled_at, now() AT TIME ZONE 'UTC'),
                leaving_since = coalesce(leaving_since, now() AT TIME ZONE 'UTC')
            WHERE id = \(userID)
            """
        )
    }

    /// Locks an account that is closed for good, and returns whether it still exists.
    package static func lockClosed(_ userID: Int, on connection: PostgresConnection) async throws -> Bool {
        try await !connection.query(
            "SELECT FROM users WHERE id = \(userID) AND leaving_since IS NOT NULL FOR UPDATE"
        ).isEmpty
    }

    /// The ids of some accounts that are closed for good, in the order in which they were closed.
    package func closedIDs() async throws -> [Int] {
        try await postgres.read(
            "SELECT id::bigint AS id FROM users WHERE leaving_since IS NOT NULL ORDER BY leaving_since LIMIT 100"
        ).map { try $0.decode("id") }
    }

    /// Removes an account's row, and its stream by a trigger.
    package static func remove(_ userID: Int, on connection: PostgresConnection) async throws {
        try await connection.execute("DELETE FROM users WHERE id = \(userID)")
    }
}
