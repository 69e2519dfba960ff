package import Deliveries
package import FoundationEssentials
import SelfieAccounts

extension Administration {
    /// Some deliveries, those that are due first.
    ///
    /// - Parameters:
    ///   - onlyFailed: Whether to list only those that are not tried any more.
    ///   - limit: The most.
    /// - Returns: The deliveries.
    /// - Throws: `PostgresError`.
    package func deliveries(onlyFailed: Bool, limit: Int) async throws -> [DescribedDelivery] {
        try await DeliveryStore(postgres: postgres).list(onlyFailed: onlyFailed, limit: limit)
    }

    /// One delivery.
    ///
    /// - Throws: `AdministrationError.noSuchDelivery`, `PostgresError`.
    package func delivery(_ id: UUID) async throws -> DescribedDelivery {
        guard let delivery = try await DeliveryStore(postgres: postgres).find(id) else {
            throw AdministrationError.noSuchDelivery
        }
        return delivery
    }

    /// Has a delivery tried at once, or all that have failed.
    ///
    /// - Parameter id: The delivery; nil for all that have failed.
    /// - Returns: How many.
    /// - Throws: `AdministrationError`, `PostgresError`.
    package func retryDeliveries(_ id: UUID?) async throws -> Int {
        let count = try await update(id) { try await $0.retry(id) }
        await ChangeNotifier(postgres: postgres).notifyOfEverything()
        return count
    }

    /// Removes a delivery, or all that have failed.
    ///
    /// - Parameter id: The delivery; nil for all that have failed.
    /// - Returns: How many.
    /// - Throws: `AdministrationError`, `PostgresError`.
    package func dropDeliveries(_ id: UUID?) async throws -> Int {
        try await update(id) { try await $0.drop(id) }
    }

    private func update(_ id: UUID?, _ work: (DeliveryStore) async throws -> Int) async throws -> Int {
        let store = DeliveryStore(postgres: postgres)
        let count = try await work(store)
        if let id, count == 0 {
            throw try await store.find(id) == nil
                ? AdministrationError.noSuchDelivery : AdministrationError.deliveryUnderWay
        }
        return count
    }
}
