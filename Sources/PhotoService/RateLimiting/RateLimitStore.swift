import Postgres

/// The table `rate_limits`: how often what was done since its window began.
struct RateLimitStore: Sendable {
    let postgres: PostgresClient

    struct Count: Sendable {
        let count: Int
        /// Until the window ends, at least 1.
        let secondsLeft: Int
    }

    /// How many ended windows are removed at a time.
    private static let batchSize = 5_000

    /// Counts once, in a window that begins with the first.
    ///
    /// - Parameters:
    ///   - key: What is counted.
    ///   - limit: The limit. Of what is refused the first is counted as one more, all others together as two more, until
    ///     something is given back.
    /// - Returns: The count.
    /// - Throws: `PostgresError`.
    func count(_ key: String, limit: RateLimit) async throws -> Count {
        let query: PostgresQuery = """
            INSERT INTO rate_limits AS counted (key, count, window_ends_at)
            VALUES (\(key), 1, now() AT TIME ZONE 'UTC' + make_interval(secs => \(limit.seconds)))
            ON CONFLICT (key) DO UPDATE SET
                count = CASE WHEN counted.window_ends_at <= now() AT TIME ZONE 'UTC' THEN 1
                    ELSE least(counted.count + 1, \(limit.count + 2)) END,
                window_ends_at = CASE WHEN counted.window_ends_at <= now() AT TIME ZONE 'UTC'
                    THEN excluded.window_ends_at ELSE counted.window_ends_at END
            RETURNING count,
                greatest(1, ceil(extract(epoch FROM window_ends_at - now() AT TIME ZONE 'UTC')))::bigint AS seconds_left
            """
        let rows = try await postgres.withConnection { try await $0.query(query) }
        guard let row = rows.first else { return Count(count: 0, secondsLeft: 1) }
        return Count(count: try row.decode("count"), secondsLeft: try row.decode("seconds_left"))
    }

    /// Takes one from each count, and what was refused with it, which takes nobody's place.
    func giveBack(_ counted: [(key: String, limit: RateLimit)]) async throws {
        try await postgres.execute(
            """
            UPDATE rate_limits SET count = least(rate_limits.count, limits.count) - 1
            FROM unnest(\(counted.map(\.key)), \(counted.map(\.limit.count))) AS limits (key, count)
            WHERE rate_limits.key = limits.key AND rate_limits.count > 0 AND rate_limits.key IN (
                SELECT key FROM rate_limits WHERE key = ANY(\(counted.map(\.key))) ORDER BY key FOR UPDATE
            )
            """
        )
    }

    /// Forgets windows that have ended.
    ///
    /// - Returns: Whether there may be more.
    /// - Throws: `PostgresError`.
    func removeEnded() async throws -> Bool {
        let count = try await postgres.execute(
            """
            DELETE FROM rate_limits WHERE key IN (
                SELECT key FROM rate_limits WHERE window_ends_at < now() AT TIME ZONE 'UTC'
                LIMIT \(Self.batchSize) FOR UPDATE SKIP LOCKED
            )
            """
        )
        return count == Self.batchSize
    }
}
