import Foundation

/// What the user wants to be told of while the app is closed.
public struct Subscription: Sendable, Hashable, Identifiable {
    /// A kind of change.
    ///
    /// With conditions, they are those of a list that shows only what fits.
    public enum Change: String, Sendable, Hashable, Codable, CaseIterable {
        case created, updated, deleted
    }

    /// The way to the user.
    public enum Channel: Sendable, Hashable {
        /// What a push shows or does.
        case push(alert: String? = nil, sound: String? = nil, badge: Bool = false, collapse: String? = nil)
        /// A push that shows nothing, and wakes the app.
        case silentPush
        /// A mail, which gathers the changes of a minute.
        case mail(alert: String? = nil)
    }

    /// Chosen by the app: 1 to 255 of letters, digits and `. _ : ~ @ -`.
    public var id: String
    /// The name of a collection, or `photos`.
    public var collection: String
    /// Values of fields that have an index; up to four.
    public var filters: [String: JSONValue]
    public var changes: Set<Change>
    /// Whether it tells only once.
    public var isOnce: Bool
    public var channel: Channel

    public init(
        id: String,
        collection: String,
        where filters: [String: JSONValue] = [:],
        on changes: Set<Change> = [.created],
        once isOnce: Bool = false,
        channel: Channel
    ) {
        (self.id, self.collection, self.filters, self.changes) = (id, collection, filters, changes)
        (self.isOnce, self.channel) = (isOnce, channel)
    }
}

/// The service's form of a subscription.
private struct SubscriptionBody: Codable {
    var id: String?
    var collection: String
    var `where`: [String: JSONValue]?
    var on: [Subscription.Change]
    var once: Bool?
    var channel: String?
    var alert: String?
    var sound: String?
    var badge: Bool?
    var silent: Bool?
    var collapse: String?
}

extension SubscriptionBody {
    init(_ subscription: Subscription) {
        collection = subscription.collection
        self.where = subscription.filters.isEmpty ? nil : subscription.filters
        on = Subscription.Change.allCases.filter(subscription.changes.contains)
        once = subscription.isOnce
        switch subscription.channel {
        case .push(let alert, let sound, let badge, let collapse):
            (channel, self.alert, self.sound, self.collapse) = ("push", alert, sound, collapse)
            self.badge = badge ? true : nil
        case .silentPush: (channel, silent) = ("push", true)
        case .mail(let alert): (channel, self.alert) = ("mail", alert)
        }
    }

    var subscription: Subscription {
        let channel: Subscription.Channel =
            if channel == "mail" {
                .mail(alert: alert)
            } else if silent == true {
                .silentPush
            } else {
                .push(alert: alert, sound: sound, badge: badge ?? false, collapse: collapse)
            }
        return Subscription(
            id: id ?? "",
            collection: collection,
            where: self.where ?? [:],
            on: Set(on),
            once: once ?? false,
            channel: channel
        )
    }
}

extension Selfie {
    /// Stores a subscription.
    ///
    /// The same again changes nothing, so an app may store all of its own at each start.
    ///
    /// - Throws: ``SelfieError/invalid(_:)``, or ``SelfieError/notFound(_:)`` if the service has no such channel.
    public func save(_ subscription: Subscription) async throws {
        var call = Call("PUT", api.url(["subscriptions", subscription.id]))
        try call.send(SubscriptionBody(subscription))
        try await api.send(call)
    }

    /// The user's subscriptions.
    public func subscriptions() async throws -> [Subscription] {
        struct Answer: Decodable { let subscriptions: [SubscriptionBody] }
        let call = Call("GET", api.url(["subscriptions"]))
        return try await api.send(call, as: Answer.self).subscriptions.map(\.subscription)
    }

    /// Ends a subscription.
    ///
    /// If it is gone already, nothing happens.
    public func removeSubscription(_ id: Subscription.ID) async throws {
        do {
            try await api.send(Call("DELETE", api.url(["subscriptions", id])))
        } catch SelfieError.notFound {}
    }
}
