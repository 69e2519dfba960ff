import Postgres

/// The table `rate_limits`: how often each action was done in its window.
struct RateLimitStore: Sendable {
    let postgres: PostgresClient

    /// The result of counting.
    enum Outcome: Sendable {
        case counted(Increment)
        case refused(Refusal)
    }

    struct Refusal: Sendable {
        /// Seconds until the window ends, at least 1.
        let secondsLeft: Int
        /// Whether it is the first one of its window, or since a count was undone.
        let isFirst: Bool
        /// Whether the limit is used up: not even one more fits.
        ///
        /// A refused call with many may leave room for a smaller one.
        let isFull: Bool
    }

    /// An amount that was added to a count in one window, and can be subtracted again.
    struct Increment: Sendable {
        let key: String
        let limit: Int
        var amount: Int
        /// In microseconds since 1970.
        let windowEnd: Int
    }

    private static let secondsLeft: PostgresQuery =
        "greatest(1, ceil(extract(epoch FROM window_ends_at - now() AT TIME ZONE 'UTC')))::bigint AS seconds_left"

    /// Counts in a window that begins with the first.
    ///
    /// The first refusal is counted, too, so that the next one is known to be another. Further ones change nothing. Neither does
    /// a refusal of many of which only some would fit.
    ///
    /// - Parameters:
    ///   - key: What is counted.
    ///   - amount: How many.
    ///   - limit: The limit.
    /// - Returns: Whether it was within the limit.
    /// - Throws: `PostgresError`.
    func count(_ key: String, amount: Int, limit: RateLimit) async throws -> Outcome {
        let query: PostgresQuery = """
            INSERT INTO rate_limits AS counted (key, count, window_ends_at)
            VALUES (\(key), \(amount), now() AT TIME ZONE 'UTC' + make_interval(secs => \(limit.seconds)))
            ON CONFLICT (key) DO UPDATE SET
                count = CASE WHEN counted.window_ends_at <= now() AT TIME ZONE 'UTC' THEN excluded.count
                    ELSE least(counted.count + \(amount), \(limit.count + 1)) END,
                window_ends_at = CASE WHEN counted.window_ends_at <= now() AT TIME ZONE 'UTC'
                    THEN excluded.window_ends_at ELSE counted.window_ends_at END
            WHERE counted.window_ends_at <= now() AT TIME ZONE 'UTC' OR counted.count = \(limit.count)
                OR counted.count + \(amount) <= \(limit.count)
            RETURNING count > \(limit.count) AS is_refused, \(part: Self.secondsLeft),
                (extract(epoch FROM window_ends_at) * 1000000)::bigint AS window_end
            """
        guard amount <= limit.count, let row = try await postgres.withConnection({ try await $0.query(query).first })
        else { return .refused(try await laterRefusal(of: key, limit: limit)) }
        if try row.decode("is_refused") {
            return .refused(Refusal(secondsLeft: try row.decode("seconds_left"), isFirst: true, isFull: true))
        }
        let windowEnd: Int = try row.decode("window_end")
        return .counted(Increment(key: key, limit: limit.count, amount: amount, windowEnd: windowEnd))
    }

    /// A refusal that changes nothing.
    private func laterRefusal(of key: String, limit: RateLimit) async throws -> Refusal {
        let row = try await postgres.read(
            "SELECT count >= \(limit.count) AS is_full, \(part: Self.secondsLeft) FROM rate_limits WHERE key = \(key)"
        ).first
        return Refusal(
            secondsLeft: try row?.decode("seconds_left") ?? limit.seconds,
            isFirst: false,
            isFull: try row?.decode("is_full") ?? false
        )
    }

    /// Subtracts amounts from counts whose window is still the same.
    ///
    /// Refusals since then are subtracted, too.
    func giveBack(_ increments: [Increment]) async throws {
        try await postgres.write(
            """
            UPDATE rate_limits SET count = greatest(least(rate_limits.count, limits.count) - amount, 0)
            FROM unnest(
                \(increments.map(\.key)), \(increments.map(\.limit)), \(increments.map(\.amount)),
                \(increments.map(\.windowEnd))
            ) AS limits (key, count, amount, window_end)
            WHERE rate_limits.key = limits.key AND rate_limits.count > 0
                AND (extract(epoch FROM window_ends_at) * 1000000)::bigint = limits.window_end
                AND rate_limits.key IN (
                    SELECT key FROM rate_limits WHERE key = ANY(\(increments.map(\.key))) ORDER BY key FOR UPDATE
                )
            """
        )
    }

    /// Removes windows that have ended.
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
