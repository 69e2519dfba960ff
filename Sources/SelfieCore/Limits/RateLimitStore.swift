import Postgres

/// The table `rate_limits`: how often each action was done in its window.
struct RateLimitStore: Sendable {
    let postgres: PostgresClient

    struct Count: Sendable {
        let count: Int
        /// Seconds until the window ends, at least 1.
        let secondsLeft: Int
        let place: Place
        /// Whether nothing more fits, not even one.
        ///
        /// A refused call with many may leave room for a smaller one.
        let isFull: Bool
    }

    /// A part of a count in one window, which can be given back.
    struct Place: Sendable {
        let key: String
        let limit: Int
        var amount: Int
        /// In microseconds since 1970.
        let windowEnd: Int
    }

    /// Counts in a window that begins with the first.
    ///
    /// - Parameters:
    ///   - key: What is counted.
    ///   - amount: How many.
    ///   - limit: The limit. The first refusal is counted as one more. All others together are counted as two more,
    ///     until something is given back. Many of which only some would fit are refused, and change nothing.
    /// - Returns: The count.
    /// - Throws: `PostgresError`.
    func count(_ key: String, amount: Int, limit: RateLimit) async throws -> Count {
        let query: PostgresQuery = """
            INSERT INTO rate_limits AS counted (key, count, window_ends_at)
            VALUES (\(key), \(amount), now() AT TIME ZONE 'UTC' + make_interval(secs => \(limit.seconds)))
            ON CONFLICT (key) DO UPDATE SET
                count = CASE WHEN counted.window_ends_at <= now() AT TIME ZONE 'UTC' THEN excluded.count
                    WHEN counted.count + \(amount) <= \(limit.count) THEN counted.count + \(amount)
                    WHEN counted.count <= \(limit.count) THEN \(limit.count + 1) ELSE \(limit.count + 2) END,
                window_ends_at = CASE WHEN counted.window_ends_at <= now() AT TIME ZONE 'UTC'
                    THEN excluded.window_ends_at ELSE counted.window_ends_at END
            WHERE counted.window_ends_at <= now() AT TIME ZONE 'UTC' OR counted.count >= \(limit.count)
                OR counted.count + \(amount) <= \(limit.count)
            RETURNING count,
                greatest(1, ceil(extract(epoch FROM window_ends_at - now() AT TIME ZONE 'UTC')))::bigint AS seconds_left,
                (extract(epoch FROM window_ends_at) * 1000000)::bigint AS window_end
            """
        guard amount <= limit.count, let row = try await postgres.withConnection({ try await $0.query(query).first })
        else { return try await refusal(of: key, amount: amount, limit: limit) }
        let place = Place(
            key: key,
            limit: limit.count,
            amount: amount,
            windowEnd: try row.decode("window_end")
        )
        let count: Int = try row.decode("count")
        return Count(
            count: count,
            secondsLeft: try row.decode("seconds_left"),
            place: place,
            isFull: count > limit.count
        )
    }

    /// What many get of which only some would fit.
    private func refusal(of key: String, amount: Int, limit: RateLimit) async throws -> Count {
        let row = try await postgres.read(
            """
            SELECT greatest(1, ceil(extract(epoch FROM window_ends_at - now() AT TIME ZONE 'UTC')))::bigint AS seconds_left
            FROM rate_limits WHERE key = \(key)
            """
        ).first
        return Count(
            count: limit.count + 2,
            secondsLeft: try row?.decode("seconds_left") ?? limit.seconds,
            place: Place(key: key, limit: limit.count, amount: 0, windowEnd: 0),
            isFull: false
        )
    }

    /// Takes its amount from each count whose window is still the same.
    ///
    /// Refusals since then are taken off, too.
    func giveBack(_ places: [Place]) async throws {
        try await postgres.write(
            """
            UPDATE rate_limits SET count = greatest(least(rate_limits.count, limits.count) - amount, 0)
            FROM unnest(
                \(places.map(\.key)), \(places.map(\.limit)), \(places.map(\.amount)), \(places.map(\.windowEnd))
            ) AS limits (key, count, amount, window_end)
            WHERE rate_limits.key = limits.key AND rate_limits.count > 0
                AND (extract(epoch FROM window_ends_at) * 1000000)::bigint = limits.window_end
                AND rate_limits.key IN (
                    SELECT key FROM rate_limits WHERE key = ANY(\(places.map(\.key))) ORDER BY key FOR UPDATE
                )
            """
        )
    }

    /// Forgets windows that have ended.
    ///
    /// - Throws: `PostgresError`.
    func removeEnded() async throws {
        try await postgres.writeInBatches { rowCount in
            """
            DELETE FROM rate_limits WHERE key IN (
                SELECT key FROM rate_limits WHERE window_ends_at < now() AT TIME ZONE 'UTC'
                LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
            )
            """
        }
    }
}
