import FoundationEssentials
package import Postgres

/// The table `deliveries`.
package struct DeliveryStore: Sendable {
    let postgres: PostgresClient

    /// How long a process may take for a try, before another may try: longer than any channel takes.
    static let leaseSeconds = 90
    /// How many deliveries to one target a process has under way at most.
    static let maxPerTarget = 4
    /// How many targets one look passes at most.
    private static let maxTargetsPerLook = 500
    /// How long what failed is kept.
    private static let failedDays = 7
    /// For how long one is put off that was not tried, unless its server is back before.
    private static let postponementSeconds = 300
    /// How many that failed are kept: the newest.
    var maxFailedCount = 100_000
    /// How many rows one statement changes at most.
    private static let batchCount = 1_000
    /// From among how many one is chosen to see whether the other side is back.
    private static let maxProbed = 100

    package init(postgres: PostgresClient) {
        self.postgres = postgres
    }

    // MARK: - Adding

    /// The part of a statement that adds deliveries.
    ///
    /// - Parameter deliveries: At least one.
    /// - Returns: An INSERT.
    package static func insertion(of deliveries: [NewDelivery]) -> PostgresQuery {
        """
        INSERT INTO deliveries (id, channel, target, cause, due_at, ends_at)
        SELECT id, channel, target, cause::jsonb, now() AT TIME ZONE 'UTC' + delay * interval '1 ms',
            now() AT TIME ZONE 'UTC' + make_interval(secs => lifetime)
        FROM unnest(
            \(deliveries.map(\.id.uuidString))::uuid[], \(deliveries.map(\.channel.rawValue))::text[],
            \(deliveries.map(\.target))::text[], \(deliveries.map(\.cause))::text[],
            \(deliveries.map { Int($0.lifetime.components.seconds) })::bigint[],
            \(deliveries.map { Int($0.delay / .milliseconds(1)) })::bigint[]
        ) AS new (id, channel, target, cause, lifetime, delay)
        """
    }

    /// The part of a statement that adds a delivery for each of some events.
    ///
    /// - Parameters:
    ///   - delivery: Its id is not used. Its cause gets the event's id as the member `event`.
    ///   - events: Selects one column, the events' ids.
    /// - Returns: An INSERT.
    package static func insertion(of delivery: NewDelivery, forEach events: PostgresQuery) -> PostgresQuery {
        """
        INSERT INTO deliveries (id, channel, target, cause, ends_at)
        SELECT gen_random_uuid(), \(delivery.channel.rawValue), \(delivery.target),
            \(delivery.cause)::text::jsonb || jsonb_build_object('event', id),
            now() AT TIME ZONE 'UTC' + make_interval(secs => \(Int(delivery.lifetime.components.seconds)))
        FROM (\(part: events)) AS happened (id)
        """
    }

    /// The part of a statement that adds deliveries with the longest lifetime.
    ///
    /// - Parameter rows: Selects `id`, `channel`, `target`, `cause` (of type `jsonb`) and `due_at`.
    /// - Returns: An INSERT.
    package static func insertion(selecting rows: PostgresQuery) -> PostgresQuery {
        """
        INSERT INTO deliveries AS old (id, channel, target, cause, due_at, ends_at)
        SELECT id, channel, target, cause, due_at, now() AT TIME ZONE 'UTC' + make_interval(
            secs => \(Int(NewDelivery.maxLifetime.components.seconds))
        )
        FROM (\(part: rows)) AS new
        """
    }

    /// The condition that no process sends a row of an alias of the table, and that it has not failed.
    package static func isWaiting(_ deliveries: StaticString) -> PostgresQuery {
        PostgresQuery(
            stringLiteral: """
                \(deliveries).failed_at IS NULL AND coalesce(\(deliveries).claimed_until <= now() AT TIME ZONE 'UTC', true)
                """
        )
    }

    /// The part of a statement that removes all deliveries to a target.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - target: The target.
    /// - Returns: A DELETE.
    package static func removal(of channel: DeliveryChannelName, target: String) -> PostgresQuery {
        "DELETE FROM deliveries WHERE channel = \(channel.rawValue) AND target = \(target)"
    }

    /// The part of a statement that ends some of the deliveries to a target, as refused.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - target: The target.
    ///   - reason: A word, without addresses and contents.
    ///   - rowCount: How many at most: those that a process sends stay.
    /// - Returns: An UPDATE.
    package static func refusal(
        of channel: DeliveryChannelName,
        target: String,
        because reason: String,
        rowCount: Int
    ) -> PostgresQuery {
        """
        UPDATE deliveries SET failed_at = now() AT TIME ZONE 'UTC', reason = \(reason), claimed_until = NULL WHERE id IN (
            SELECT id FROM deliveries WHERE failed_at IS NULL AND channel = \(channel.rawValue) AND target = \(target)
                AND coalesce(claimed_until <= now() AT TIME ZONE 'UTC', true)
            LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
        )
        """
    }

    // MARK: - Trying

    /// Some deliveries that a process has claimed, and where it goes on.
    struct Claims: Sendable {
        var deliveries: [Delivery]
        /// The last target that was looked at.
        var lastTarget: String?
        /// Whether there were more targets than one look passes.
        var hasMoreTargets: Bool
    }

    /// Claims deliveries of a channel that are due, the targets in turn.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - target: Only targets behind this one are looked at.
    ///   - busy: How many deliveries to each target this process has under way.
    ///   - maxCount: The most deliveries.
    /// - Returns: The claims.
    /// - Throws: `PostgresError`.
    func claim(
        _ channel: DeliveryChannelName,
        behind target: String,
        busy: [String: Int],
        maxCount: Int
    ) async throws -> Claims {
        let busy = busy.map { (target: $0.key, count: $0.value) }
        let query: PostgresQuery = """
            WITH RECURSIVE turn AS (
                (
                    SELECT target, 1 AS number FROM deliveries
                    WHERE failed_at IS NULL AND channel = \(channel.rawValue) AND target > \(target)
                    ORDER BY target LIMIT 1
                )
                UNION ALL
                SELECT (
                    SELECT next.target FROM deliveries AS next
                    WHERE failed_at IS NULL AND channel = \(channel.rawValue) AND next.target > turn.target
                    ORDER BY next.target LIMIT 1
                ), number + 1
                FROM turn WHERE target IS NOT NULL AND number < \(Self.maxTargetsPerLook)
            ), room AS (
                SELECT turn.target, greatest(\(Self.maxPerTarget) - coalesce(busy.count, 0), 0) AS count
                FROM turn LEFT JOIN unnest(\(busy.map(\.target))::text[], \(busy.map(\.count))::bigint[])
                    AS busy (target, count) USING (target)
                WHERE turn.target IS NOT NULL ORDER BY turn.target
            ), due AS (
                SELECT one.id FROM room CROSS JOIN LATERAL (
                    SELECT id FROM deliveries AS waiting
                    WHERE failed_at IS NULL AND channel = \(channel.rawValue) AND waiting.target = room.target
                        AND due_at <= now() AT TIME ZONE 'UTC' AND ends_at > now() AT TIME ZONE 'UTC'
                        AND coalesce(claimed_until <= now() AT TIME ZONE 'UTC', true)
                    ORDER BY due_at, id LIMIT room.count FOR UPDATE SKIP LOCKED
                ) AS one LIMIT \(maxCount)
            ), claimed AS (
                UPDATE deliveries SET try_count = try_count + 1,
                    claimed_until = \(part: Self.leaseEnd)
                FROM due WHERE deliveries.id = due.id
                RETURNING deliveries.id, deliveries.target, cause, created_at, try_count, claimed_until
            )
            SELECT last_target, target_count::bigint, claimed.id, claimed.target, cause::text AS cause,
                coalesce(cause->>'kind', '') AS kind, created_at,
                try_count::bigint AS try_count, claimed_until::text AS claim
            FROM (SELECT max(target) AS last_target, count(target) AS target_count FROM turn) AS look
            LEFT JOIN claimed ON true
            """
        let rows = try await postgres.withConnection { try await $0.query(query) }
        guard let first = rows.first else { return Claims(deliveries: [], lastTarget: nil, hasMoreTargets: false) }
        return Claims(
            deliveries: try rows.compactMap { row in
                try row.decodeIfPresent("id", as: UUID.self) == nil ? nil : Delivery(row, channel)
            },
            lastTarget: try first.decodeIfPresent("last_target"),
            hasMoreTargets: try first.decode("target_count", as: Int.self) == Self.maxTargetsPerLook
        )
    }

    /// Notes what came of a try, unless another process tries meanwhile.
    ///
    /// - Parameters:
    ///   - delivery: As it was claimed.
    ///   - outcome: What came of it.
    ///   - pause: The pause before the next try; nil for none.
    /// - Returns: Whether it has failed, and is not tried again.
    /// - Throws: `PostgresError`.
    func finish(_ delivery: Delivery, _ outcome: DeliveryOutcome, pause: Duration?) async throws -> Bool {
        switch outcome {
        case .sent, .pointless:
            try await postgres.write("DELETE FROM deliveries WHERE \(part: Self.isHeld(delivery))")
            return false
        case .unfinished:
            try await giveBack(delivery)
            return false
        case .notNow(let reason, _):
            return try await postpone(delivery, reason, awaiting: nil, pause)
        case .unavailable(let reason, let server):
            return try await postpone(delivery, reason, awaiting: server, pause)
        case .postponed(let server):
            try await postgres.write(
                """
                UPDATE deliveries SET claimed_until = NULL, try_count = try_count - 1, awaited_server = \(server),
                    due_at = now() AT TIME ZONE 'UTC' + make_interval(secs => \(Self.postponementSeconds)::int)
                WHERE \(part: Self.isHeld(delivery))
                """
            )
            return false
        case .refused(let reason):
            try await fail(delivery, reason)
            return true
        }
    }

    private func postpone(
        _ delivery: Delivery,
        _ reason: String,
        awaiting server: String?,
        _ pause: Duration?
    ) async throws -> Bool {
        guard let pause else {
            try await fail(delivery, reason)
            return true
        }
        let milliseconds = Int(pause / .milliseconds(1))
        // One that would end before its next try has failed already.
        let query: PostgresQuery = """
            UPDATE deliveries SET claimed_until = NULL, reason = \(reason), due_at = next.due_at, awaited_server = \(server),
                failed_at = CASE WHEN next.due_at >= ends_at THEN now() AT TIME ZONE 'UTC' END
            FROM (
                SELECT now() AT TIME ZONE 'UTC' + \(milliseconds) * interval '1 ms' AS due_at
            ) AS next
            WHERE \(part: Self.isHeld(delivery))
            RETURNING failed_at IS NOT NULL AS has_failed
            """
        return try await postgres.withConnection { try await $0.query(query).first?.decode("has_failed") ?? false }
    }

    private func fail(_ delivery: Delivery, _ reason: String) async throws {
        try await postgres.write(
            """
            UPDATE deliveries SET claimed_until = NULL, reason = \(reason), failed_at = now() AT TIME ZONE 'UTC'
            WHERE \(part: Self.isHeld(delivery))
            """
        )
    }

    /// Gives a delivery back that was not tried to the end.
    ///
    /// The try does not count.
    ///
    /// - Throws: `PostgresError`.
    func giveBack(_ delivery: Delivery) async throws {
        try await postgres.write(
            """
            UPDATE deliveries SET claimed_until = NULL, try_count = try_count - 1
            WHERE \(part: Self.isHeld(delivery))
            """
        )
    }

    /// The part of a transaction that notes how far a delivery has come.
    ///
    /// - Parameters:
    ///   - cause: The cause from now on.
    ///   - delivery: As it was claimed.
    /// - Returns: An UPDATE of one row; of none when another process has claimed it meanwhile.
    package static func progress(_ cause: String, of delivery: Delivery) -> PostgresQuery {
        "UPDATE deliveries SET cause = \(cause)::text::jsonb WHERE \(part: isHeld(delivery))"
    }

    // MARK: - After an outage

    /// Claims one of the deliveries that wait for a server's return.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - channel: Its channel.
    /// - Returns: A delivery, by chance among the first: one alone may fail for a reason of its own. Nil when there is none.
    /// - Throws: `PostgresError`.
    func claimAwaiting(_ server: String, of channel: DeliveryChannelName) async throws -> Delivery? {
        let isFree: PostgresQuery = """
            \(part: Self.awaits(server, channel)) AND ends_at > now() AT TIME ZONE 'UTC'
                AND coalesce(claimed_until <= now() AT TIME ZONE 'UTC', true)
            """
        let query: PostgresQuery = """
            UPDATE deliveries SET try_count = try_count + 1, claimed_until = \(part: Self.leaseEnd)
            WHERE id = (
                SELECT id FROM deliveries WHERE \(part: isFree) AND id = (
                    SELECT id FROM (
                        SELECT id FROM deliveries WHERE \(part: isFree) ORDER BY due_at LIMIT \(Self.maxProbed)
                    ) AS waiting ORDER BY random() LIMIT 1
                ) FOR UPDATE SKIP LOCKED
            )
            RETURNING id, target, cause::text AS cause, coalesce(cause->>'kind', '') AS kind, created_at,
                try_count::bigint AS try_count, claimed_until::text AS claim
            """
        return try await postgres.withConnection { try await $0.query(query) }.first.map { try Delivery($0, channel) }
    }

    /// Has all deliveries that wait for a server's return tried at once.
    ///
    /// - Throws: `PostgresError`.
    func endOutage(of server: String, _ channel: DeliveryChannelName) async throws {
        try await postgres.writeInBatches(of: Self.batchCount) { rowCount in
            """
            UPDATE deliveries SET due_at = least(due_at, now() AT TIME ZONE 'UTC'), awaited_server = NULL
            WHERE id IN (
                SELECT id FROM deliveries WHERE \(part: Self.awaits(server, channel))
                LIMIT \(rowCount) FOR NO KEY UPDATE SKIP LOCKED
            )
            """
        }
    }

    private static func awaits(_ server: String, _ channel: DeliveryChannelName) -> PostgresQuery {
        "awaited_server = \(server) AND failed_at IS NULL AND channel = \(channel.rawValue)"
    }

    private static let leaseEnd: PostgresQuery = """
        now() AT TIME ZONE 'UTC' + make_interval(secs => \(leaseSeconds))
        """

    /// Whether a claim still holds: another one ends at another time.
    private static func isHeld(_ delivery: Delivery) -> PostgresQuery {
        "id = \(delivery.id.uuidString)::uuid AND claimed_until = \(delivery.claim)::timestamp AND failed_at IS NULL"
    }

    // MARK: - Cleaning up

    /// Ends what is too late, and removes what failed long ago.
    ///
    /// - Throws: `PostgresError`.
    package func tidy() async throws {
        try await postgres.write(
            """
            UPDATE deliveries SET claimed_until = NULL, failed_at = now() AT TIME ZONE 'UTC',
                reason = coalesce(reason, 'too_late')
            WHERE id IN (
                SELECT id FROM deliveries WHERE failed_at IS NULL AND ends_at <= now() AT TIME ZONE 'UTC'
                    AND coalesce(claimed_until <= now() AT TIME ZONE 'UTC', true)
                LIMIT \(Self.batchCount) FOR UPDATE SKIP LOCKED
            )
            """
        )
        try await postgres.writeInBatches(of: Self.batchCount) { rowCount in
            """
            DELETE FROM deliveries WHERE id IN (
                SELECT id FROM deliveries
                WHERE failed_at <= now() AT TIME ZONE 'UTC' - make_interval(days => \(Self.failedDays)::int)
                LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
            )
            """
        }
        // Whoever causes many failures must not fill the database.
        try await postgres.writeInBatches(of: Self.batchCount) { rowCount in
            """
            DELETE FROM deliveries WHERE id IN (
                SELECT id FROM deliveries WHERE failed_at < (
                    SELECT failed_at FROM deliveries WHERE failed_at IS NOT NULL
                    ORDER BY failed_at DESC OFFSET \(maxFailedCount - 1) LIMIT 1
                ) LIMIT \(rowCount) FOR UPDATE SKIP LOCKED
            )
            """
        }
    }
}

extension Delivery {
    fileprivate init(_ row: PostgresRow, _ channel: DeliveryChannelName) throws {
        self.init(
            id: try row.decode("id"),
            channel: channel,
            target: try row.decode("target"),
            kind: try row.decode("kind"),
            cause: try row.decode("cause"),
            createdAt: try row.decode("created_at"),
            tryCount: try row.decode("try_count"),
            claim: try row.decode("claim")
        )
    }
}
