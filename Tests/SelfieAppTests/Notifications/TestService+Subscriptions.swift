import CoreMetrics
import DatabaseTestSupport
import Foundation
import Logging
import Postgres
import SelfieRecords
import ServiceTestSupport
import TestSupport

@testable import Deliveries
@testable import SelfieNotifications

extension TestService {
    func removeUnusedFilters() async throws { try await FilterTable.removeUnused(postgres) }

    /// Makes a delivery for each device of the changes that wait, one change after another, while no worker runs.
    ///
    /// - Parameters:
    ///   - limit: How many changes are spread out at the same time.
    ///   - maxTime: For how long a change is spread out at a time.
    /// - Returns: How often it was gone on with.
    /// - Throws: `PostgresError`.
    @discardableResult
    func spreadAll(atOnce limit: Int = 1, maxTime: Duration = .seconds(20)) async throws -> Int {
        var channel = SubscriptionChannel(
            postgres: postgres,
            platforms: [.apns],
            sendsMail: true,
            metrics: NOOPMetricsHandler.instance,
            logger: Logger(label: "test"),
            onAdded: {}
        )
        channel.maxTime = maxTime
        var count = 0
        let store = DeliveryStore(postgres: postgres)
        while true {
            let claims = try await store.claim(.subscriptions, behind: "", busy: [:], maxCount: limit)
            if claims.deliveries.isEmpty { return count }
            let outcomes = try await withThrowingTaskGroup(of: DeliveryOutcome.self) { [channel] group in
                for delivery in claims.deliveries {
                    group.addTask {
                        let outcome = await channel.send(delivery)
                        _ = try await store.finish(delivery, outcome, pause: nil)
                        return outcome
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            count += outcomes.count { $0 == .unfinished }
        }
    }
}
