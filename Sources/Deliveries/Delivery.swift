package import FoundationEssentials

/// A way out of the service.
package enum DeliveryChannelName: String, Sendable, CaseIterable {
    case mail, apns, fcm, webhook
    /// To subscriptions: a change becomes a delivery for each device, or a mail.
    case subscriptions
}

/// Something that is to be sent out, which a process has claimed.
package struct Delivery: Sendable, Equatable {
    /// The same in all tries.
    package let id: UUID
    package let channel: DeliveryChannelName
    /// Whom it is for, such as `webhook:3`.
    package let target: String
    /// The kind of its cause, such as `reset_code`; empty if the cause has none.
    package let kind: String
    /// A JSON object with ids and versions.
    package let cause: String
    /// When it was added: by the transaction of its cause.
    package let createdAt: Date
    /// How often it was tried, this time included.
    package let tryCount: Int
    /// Until when it is claimed, as the row has it: it identifies the claim.
    let claim: String
}

/// A delivery to add.
package struct NewDelivery: Sendable {
    package let id: UUID
    package let channel: DeliveryChannelName
    /// 1 to 255 bytes.
    ///
    /// Few deliveries to one target are under way at once. A mail server is one target.
    package let target: String
    /// A JSON object with ids and versions, of at most 4 KiB; its member `kind` is a word.
    ///
    /// It has no text of users, no code and no address: a dump of the database must not tell them.
    package let cause: String
    /// For how long it may be tried.
    package let lifetime: Duration
    /// How long it waits for its first try.
    package let delay: Duration

    /// Twice as long as all tries take.
    package static let maxLifetime: Duration = .seconds(56 * 3_600)

    package init(
        id: UUID = UUID(),
        channel: DeliveryChannelName,
        target: String,
        cause: String,
        lifetime: Duration = maxLifetime,
        delay: Duration = .zero
    ) {
        (self.id, self.channel, self.target, self.cause) = (id, channel, target, cause)
        (self.lifetime, self.delay) = (lifetime, delay)
    }
}

/// What came of a try.
package enum DeliveryOutcome: Sendable, Equatable {
    /// The other side has taken it.
    case sent
    /// There is nothing to send any more: its cause or its receiver is gone.
    case pointless
    /// It may be taken later.
    ///
    /// - `reason`: A word or two, without addresses and contents.
    /// - `retryAfter`: How long the other side asks to wait.
    case notNow(reason: String, retryAfter: Duration? = nil)
    /// A server takes nothing at present.
    ///
    /// It is tried again like ``notNow(reason:retryAfter:)``, but also as soon as the server takes anything.
    ///
    /// - `server`: One of the channel's ``DeliveryChannel/servers``.
    case unavailable(reason: String, server: String)
    /// It was not tried, since a server takes nothing at present. It waits for the server's return.
    case postponed(server: String)
    /// A part is done, and the rest goes on at once.
    case unfinished
    /// It will never be taken.
    case refused(reason: String)
}
