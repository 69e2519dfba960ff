package import FoundationEssentials
import Postgres

/// A delivery as an operator sees it.
package struct DescribedDelivery: Sendable, Encodable {
    package enum State: String, Sendable, Encodable {
        case waiting
        /// A process tries to send it.
        case sending
        /// It is not tried any more.
        case failed
    }

    package let id: UUID
    package let channel: String
    package let target: String
    package let kind: String
    /// A JSON object with ids and versions, and perhaps a sealed address.
    package let cause: String
    package let state: State
    package let createdAt: Date
    package let dueAt: Date
    package let endsAt: Date
    package let tryCount: Int
    /// Why the last try failed.
    package let reason: String?
    package let failedAt: Date?
}

/// How many deliveries of a channel there are.
package struct DeliverySummary: Sendable, Equatable {
    package let channel: DeliveryChannelName
    /// At most 100,000 are counted.
    package let waitingCount: Int
    /// How long the oldest of these waits, in seconds; 0 for none.
    package let oldestAge: Int
    package let failedCount: Int
}

extension DeliveryStore {
    private static let maxCounted = 100_000

    /// How many deliveries there are, for each channel.
    ///
    /// - Throws: `PostgresError`.
    package func summaries() async throws -> [DeliverySummary] {
        try await postgres.read(
            """
            SELECT channel, waiting.count AS waiting_count,
                coalesce(floor(extract(epoch FROM now() AT TIME ZONE 'UTC' - waiting.oldest)), 0)::bigint AS oldest_age,
                coalesce(failed.count, 0) AS failed_count
            FROM unnest(\(DeliveryChannelName.allCases.map(\.rawValue))) AS known (channel)
            CROSS JOIN LATERAL (
                SELECT count(*), min(created_at) AS oldest FROM (
                    SELECT created_at FROM deliveries
                    WHERE failed_at IS NULL AND deliveries.channel = known.channel LIMIT \(Self.maxCounted)
                ) AS counted
            ) AS waiting
            LEFT JOIN (
                SELECT channel, count(*) FROM (
                    SELECT channel FROM deliveries WHERE failed_at IS NOT NULL LIMIT \(Self.maxCounted)
                ) AS counted GROUP BY channel
            ) AS failed USING (channel)
            """
        ).compactMap { row -> DeliverySummary? in
            guard let channel = DeliveryChannelName(rawValue: try row.decode("channel")) else { return nil }
            return DeliverySummary(
                channel: channel,
                waitingCount: try row.decode("waiting_count"),
                oldestAge: try row.decode("oldest_age"),
                failedCount: try row.decode("failed_count")
            )
        }
    }

    /// Some deliveries, those that are due first.
    ///
    /// - Parameters:
    ///   - onlyFailed: Whether to list only those that are not tried any more.
    ///   - limit: The most.
    /// - Returns: The deliveries.
    /// - Throws: `PostgresError`.
    package func list(onlyFailed: Bool, limit: Int) async throws -> [DescribedDelivery] {
        try await postgres.read(
            """
            SELECT \(part: Self.described) FROM deliveries WHERE failed_at IS NOT NULL OR NOT \(onlyFailed)
            ORDER BY due_at, id LIMIT \(limit)
            """
        ).map(DescribedDelivery.init)
    }

    /// One delivery; nil when there is none.
    ///
    /// - Throws: `PostgresError`.
    package func find(_ id: UUID) async throws -> DescribedDelivery? {
        try await postgres.read("SELECT \(part: Self.described) FROM deliveries WHERE id = \(id)").first
            .map(DescribedDelivery.init)
    }

    /// Has deliveries tried at once, from the first try on.
    ///
    /// - Parameter id: The delivery; nil for all that have failed.
    /// - Returns: How many: not those that a process is sending.
    /// - Throws: `PostgresError`.
    package func retry(_ id: UUID?) async throws -> Int {
        try await postgres.write(
            """
            UPDATE deliveries SET failed_at = NULL, reason = NULL, awaited_server = NULL, try_count = 0, claimed_until = NULL,
                due_at = now() AT TIME ZONE 'UTC',
                ends_at = now() AT TIME ZONE 'UTC' + make_interval(
                    secs => \(Int(NewDelivery.maxLifetime.components.seconds))
                )
            WHERE CASE WHEN \(id)::uuid IS NULL THEN failed_at IS NOT NULL ELSE id = \(id)::uuid END
                AND coalesce(claimed_until <= now() AT TIME ZONE 'UTC', true)
            """
        )
    }

    /// Removes deliveries.
    ///
    /// - Parameter id: The delivery; nil for all that have failed.
    /// - Returns: How many: not those that a process is sending.
    /// - Throws: `PostgresError`.
    package func drop(_ id: UUID?) async throws -> Int {
        try await postgres.write(
            """
            DELETE FROM deliveries
            WHERE CASE WHEN \(id)::uuid IS NULL THEN failed_at IS NOT NULL ELSE id = \(id)::uuid END
                AND coalesce(claimed_until <= now() AT TIME ZONE 'UTC', true)
            """
        )
    }

    private static let described: PostgresQuery = """
        id, channel, target, coalesce(cause->>'kind', '') AS kind, cause::text AS cause, created_at, due_at, ends_at,
        try_count::bigint AS try_count, reason, failed_at,
        coalesce(claimed_until > now() AT TIME ZONE 'UTC', false) AS is_sending
        """
}

extension DescribedDelivery {
    fileprivate init(_ row: PostgresRow) throws {
        let failedAt: Date? = try row.decodeIfPresent("failed_at")
        self.init(
            id: try row.decode("id"),
            channel: try row.decode("channel"),
            target: try row.decode("target"),
            kind: try row.decode("kind"),
            cause: try row.decode("cause"),
            state: failedAt != nil ? .failed : try row.decode("is_sending") ? .sending : .waiting,
            createdAt: try row.decode("created_at"),
            dueAt: try row.decode("due_at"),
            endsAt: try row.decode("ends_at"),
            tryCount: try row.decode("try_count"),
            reason: try row.decodeIfPresent("reason"),
            failedAt: failedAt
        )
    }
}
