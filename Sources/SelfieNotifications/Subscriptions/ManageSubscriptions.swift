import Postgres
package import SelfieAccounts
import SelfieRecords

/// Adds, changes and removes subscriptions.
package struct ManageSubscriptions: Sendable {
    package let store: SubscriptionStore
    /// What the service can send.
    package let channels: Set<Subscription.Channel>
    let checkFilter: CheckFilter
    let limiter: RateLimiter

    /// Adds a subscription, or changes it.
    ///
    /// The same again changes nothing.
    ///
    /// - Parameters:
    ///   - id: The id of the client's choice, which keeps to `RecordID`.
    ///   - fields: The body of the call.
    ///   - userID: The user.
    ///   - source: Where the request came from.
    /// - Returns: The subscription.
    /// - Throws: `InvalidInput`, `RecordRefusal` for a condition, `RateLimitExceeded`, `SubscriptionStore.TooMany`,
    ///   `SessionError.ended`, `PostgresError`.
    package func put(
        _ id: String,
        _ fields: SubscriptionFields,
        ofUser userID: Int,
        from source: RequestSource
    ) async throws -> Subscription {
        try await limiter.count([.recordWrites(1, userID: userID)], ofUser: userID, from: source)
        let definition = try fields.definition()
        for _ in 1..<Self.maxAttempts {
            do {
                return try await putOnce(definition, fields, id, userID)
            } catch is FilterTable.SchemaOutdated {}
        }
        return try await putOnce(definition, fields, id, userID)
    }

    /// How often it is tried again when the schema changes.
    private static let maxAttempts = 5

    private func putOnce(
        _ definition: Subscription.Definition,
        _ fields: SubscriptionFields,
        _ id: String,
        _ userID: Int
    ) async throws -> Subscription {
        let filter: CheckedFilter
        do {
            filter = try await checkFilter(fields.conditions, in: definition.collection, of: userID)
        } catch let refusal as RecordRefusal where refusal.reason == .noCollection {
            throw InvalidInput(validationErrors: [ValidationError(.other("collection"), .invalid)])
        }
        return try await store.put(definition, filter, id: id, ofUser: userID)
    }

    /// Removes a subscription.
    ///
    /// - Parameters:
    ///   - id: The id of the client's choice.
    ///   - userID: The user.
    ///   - source: Where the request came from.
    /// - Returns: Whether there was one.
    /// - Throws: `RateLimitExceeded`, `PostgresError`.
    package func remove(_ id: String, ofUser userID: Int, from source: RequestSource) async throws -> Bool {
        try await limiter.count([.recordWrites(1, userID: userID)], ofUser: userID, from: source)
        return try await store.remove(id, ofUser: userID)
    }
}
