import Encodings
package import FoundationEssentials

/// A receiver of events.
package struct Webhook: Sendable, Encodable {
    package enum DisabledReason: String, Sendable, Encodable {
        case byHand = "by_hand"
        /// Its receiver answered 410.
        case gone
        /// For days, every try failed.
        case failing
    }

    package let id: Int
    package let url: String
    package let events: [String]
    /// Whether it gets what an event is about, too.
    package let isFull: Bool
    package let createdAt: Date
    /// Until when the secret before signs as well; nil for none.
    package let formerSecretEndsAt: Date?
    /// Since when every try has failed.
    package let failingSince: Date?
    package let disabledAt: Date?
    package let disabledReason: DisabledReason?
    /// How many events wait to be sent.
    package let waitingCount: Int
}

/// What a webhook is told of.
package enum WebhookEvents {
    /// What happens to records, and to photos.
    private static let recordChanges = ["created", "updated", "deleted"]
    private static let changes = [
        "photos": recordChanges, "users": ["created", "disabled", "deleted", "email_changed"],
    ]

    private static let maxCount = 64

    /// The body of the event that shows whether a receiver works.
    package static func testBody(at date: Date) -> String {
        #"{"type":"test","timestamp":"\#(date.contractText)","data":{}}"#
    }

    /// Why a list of events can't be used.
    package enum Problem: Error, Equatable {
        case none, tooMany
        case unknown(String)
    }

    /// Reads a list, such as `houses,photos.created,users`.
    ///
    /// - Parameters:
    ///   - text: Collections, `photos` or `users`, or one of their changes, with commas between them.
    ///   - collections: The collections of the schema.
    /// - Returns: The events, each once.
    /// - Throws: ``Problem``.
    package static func read(_ text: String, collections: Set<String>) throws(Problem) -> [String] {
        let events = text.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        if events.isEmpty { throw .none }
        if events.count > maxCount { throw .tooMany }
        for event in events {
            let parts = event.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let known = changes[parts[0]] ?? (collections.contains(parts[0]) ? recordChanges : nil),
                parts.count == 1 || known.contains(parts[1])
            else { throw .unknown(event) }
        }
        return Array(Set(events)).sorted()
    }
}
