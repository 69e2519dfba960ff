import CoreMetrics
package import Deliveries
import FoundationEssentials
package import Logging
package import Metrics
package import Postgres
import SelfieRecords

/// Tells subscriptions of changes: one delivery of a change becomes one for each device, page by page.
///
/// So the transaction that makes a change adds one row for a stream, however many read it.
package struct SubscriptionChannel: DeliveryChannel {
    private let postgres: PostgresClient
    private let platforms: [Device.Platform]
    private let sendsMail: Bool
    private let onAdded: @Sendable () -> Void
    private let replaced: Counter
    private let logger: Logger

    /// A sentence for each metric, by its name in Prometheus.
    package static let help = [
        "push_replaced_total": "Pushes that were given up for newer ones before they were sent."
    ]

    /// For how long it goes on before others have their turn.
    var maxTime: Duration = .seconds(20)

    /// - Parameters:
    ///   - postgres: The database.
    ///   - platforms: To which pushes can be sent.
    ///   - sendsMail: Whether mails can be sent.
    ///   - metrics: Counts pushes that are replaced.
    ///   - logger: Logs pushes that are replaced.
    ///   - onAdded: Called when deliveries were added.
    package init(
        postgres: PostgresClient,
        platforms: [Device.Platform],
        sendsMail: Bool,
        metrics: any MetricsFactory,
        logger: Logger,
        onAdded: @escaping @Sendable () -> Void
    ) {
        (self.postgres, self.platforms, self.sendsMail) = (postgres, platforms, sendsMail)
        (self.logger, self.onAdded) = (logger, onAdded)
        replaced = Counter(label: "push_replaced", factory: metrics)
    }

    package var name: DeliveryChannelName { .subscriptions }

    package func send(_ delivery: Delivery) async -> DeliveryOutcome {
        guard var cause = ChangeCause(delivery.cause) else { return .refused(reason: "unknown_cause") }
        let start = ContinuousClock.now
        do {
            while true {
                cause.told = try await spread(cause, of: delivery)
                onAdded()
                if cause.told == nil { return .sent }
                if Task.isCancelled || ContinuousClock.now - start > maxTime { return .unfinished }
            }
        } catch is LostClaim {
            return .unfinished
        } catch {
            return .notNow(reason: "database")
        }
    }

    /// Another process has claimed the delivery.
    private struct LostClaim: Error {}

    /// Tells a page of subscriptions, and notes that.
    ///
    /// - Returns: The last of them; nil after the last page.
    private func spread(_ cause: ChangeCause, of delivery: Delivery) async throws -> ChangeCause.Position? {
        let (last, givenUpCount) = try await postgres.withTransaction { connection in
            var next = cause
            let statement = SpreadStatement(cause: cause, platforms: platforms, sendsMail: sendsMail)
            let row = try await connection.query(statement.text)[0]
            try await ChangeNotices.add(
                cause,
                users: try row.decode("mail_users"),
                subscriptions: try row.decode("mail_subscriptions"),
                kinds: try row.decode("mail_kinds"),
                on: connection
            )
            if let filter: Int = try row.decodeIfPresent("last_filter"),
                let id: Int = try row.decodeIfPresent("last_id")
            {
                next.told = ChangeCause.Position(filter: filter, id: id)
            } else {
                // If this is tried again, nobody is left.
                next.told = ChangeCause.Position(filter: .max, id: .max)
            }
            let count = try await connection.execute(DeliveryStore.progress(next.text, of: delivery))
            if count == 0 { throw LostClaim() }
            return (next.told, try row.decode("given_up_count", as: Int.self))
        }
        if givenUpCount > 0 {
            replaced.increment(by: givenUpCount)
            logger.warning(
                "pushes were given up for newer ones, since too many wait",
                metadata: ["count": "\(givenUpCount)"]
            )
        }
        return last?.filter == .max ? nil : last
    }
}
