import Postgres

/// The table `known_addresses`: where users have signed in from.
struct KnownAddressStore: Sendable {
    let postgres: PostgresClient

    /// The least number of days that an address stays known after a sign-in from it.
    private static let minUnusedDays = 180
    /// The most addresses that stay known of a user: those used last.
    static let maxCount = 100
    /// The most that are removed at once: a user of an older version may have had any number.
    private static let maxRemovedCount = 1_000

    /// The part of a statement that notes a network for some users.
    ///
    /// - Parameters:
    ///   - network: The network that is known as theirs from then on.
    ///   - users: Selects one column, the users' ids.
    /// - Returns: An INSERT.
    static func insertion(of network: String, forEach users: PostgresQuery) -> PostgresQuery {
        """
        INSERT INTO known_addresses (user_id, network) SELECT id, \(network) FROM (\(part: users)) AS affected (id)
        ON CONFLICT (user_id, network) DO UPDATE SET last_used_at = excluded.last_used_at
        """
    }

    /// The part of a statement that removes a user's networks beyond the maximum.
    ///
    /// - Parameters:
    ///   - network: One that the statement notes.
    ///   - user: Selects one column of one row, the user's id.
    /// - Returns: A DELETE.
    static func removal(beside network: String, ofUser user: PostgresQuery) -> PostgresQuery {
        """
        DELETE FROM known_addresses WHERE (user_id, network) IN (
            SELECT user_id, network FROM known_addresses WHERE user_id = (\(part: user)) AND network <> \(network)
            ORDER BY last_used_at DESC OFFSET \(maxCount - 1) LIMIT \(maxRemovedCount)
        )
        """
    }

    /// Makes a network the only known one of a user.
    ///
    /// - Parameters:
    ///   - network: The network.
    ///   - userID: The user's id.
    ///   - connection: In a transaction.
    /// - Throws: `PostgresError`.
    static func keepOnly(_ network: String, ofUser userID: Int, on connection: PostgresConnection) async throws {
        try await connection.execute(
            "DELETE FROM known_addresses WHERE user_id = \(userID) AND network <> \(network)"
        )
        try await connection.execute(insertion(of: network, forEach: "SELECT \(userID)::bigint"))
    }

    /// Removes all networks of a user.
    ///
    /// - Parameters:
    ///   - userID: The user's id.
    ///   - connection: In a transaction.
    /// - Throws: `PostgresError`.
    static func forgetAll(ofUser userID: Int, on connection: PostgresConnection) async throws {
        try await connection.execute("DELETE FROM known_addresses WHERE user_id = \(userID)")
    }

    /// Removes addresses that were unused for long.
    ///
    /// - Parameter sessionLifetimeHours: How long a session lives. A user with a long one seldom signs in, but must not
    ///   be forgotten.
    /// - Throws: `PostgresError`.
    func removeUnused(sessionLifetimeHours: Int) async throws {
        let maxUnusedDays = max(Self.minUnusedDays, 2 * sessionLifetimeHours / 24)
        try await postgres.writeInBatches { rowCount in
            """
            DELETE FROM known_addresses WHERE (user_id, network) IN (
                SELECT user_id, network FROM known_addresses
                WHERE last_used_at < now() AT TIME ZONE 'UTC' - make_interval(days => \(maxUnusedDays)::integer)
                LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
            )
            """
        }
    }
}
