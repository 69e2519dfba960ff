import Postgres

/// The table `known_addresses`: where users have signed in from.
struct KnownAddressStore: Sendable {
    let postgres: PostgresClient

    /// How long at least a user's address counts as known after it was used to sign in.
    private static let unusedDaysMin = 180

    /// How many are removed at a time.
    private static let batchSize = 5_000

    /// Forgets addresses that were not used for long.
    ///
    /// - Parameter tokenLifetimeHours: How long a token lives: who need not sign in for long is not to be forgotten.
    /// - Returns: Whether there may be more.
    /// - Throws: `PostgresError`.
    func removeUnused(tokenLifetimeHours: Int) async throws -> Bool {
        let unusedDaysMax = max(Self.unusedDaysMin, 2 * tokenLifetimeHours / 24)
        let count = try await postgres.execute(
            """
            DELETE FROM known_addresses WHERE (user_id, network) IN (
                SELECT user_id, network FROM known_addresses
                WHERE last_used_at < now() AT TIME ZONE 'UTC' - make_interval(days => \(unusedDaysMax)::integer)
                LIMIT \(Self.batchSize) FOR UPDATE SKIP LOCKED
            )
            """
        )
        return count == Self.batchSize
    }
}
