import Deliveries
import FoundationEssentials

/// The cause of a mail, as its delivery has it.
struct MailCause: Codable, Sendable {
    let kind: MailKind
    /// The id of a code; nil for other mails.
    var code: UUID?
    /// The id of the event in the history; nil for codes.
    var event: Int?
    /// The address, sealed; nil for codes, whose rows say where they go.
    ///
    /// It is that of the time of the event: a thief who changes the address as well must not get the notice.
    var to: String?

    /// Two targets, which take turns: after an outage, codes need not wait behind thousands of notices.
    private var target: String { kind.hasCode ? "codes" : "notices" }

    func delivery(lifetime: Duration = NewDelivery.maxLifetime, delay: Duration = .zero) -> NewDelivery {
        let encoder = JSONEncoder()
        // None of its values can't be encoded.
        let cause = (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return NewDelivery(channel: .mail, target: target, cause: cause, lifetime: lifetime, delay: delay)
    }
}
