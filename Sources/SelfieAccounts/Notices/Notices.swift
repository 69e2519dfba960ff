import Cryptography
import Deliveries
import Encodings
import FoundationEssentials
package import Postgres

/// Tells users by mail what was done to their accounts.
package struct Notices: Sendable {
    /// Whether they are told of sign-ins from new places, too.
    let includesSignIns: Bool
    private let box: AESGCM

    /// - Parameters:
    ///   - secret: `SECRET_KEY_BASE`, which seals addresses.
    ///   - includesSignIns: Whether users are told of sign-ins from new places, too.
    package init(secret: String, includesSignIns: Bool) {
        self.includesSignIns = includesSignIns
        box = AESGCM(secret: secret, purpose: "addresses of notices")
    }

    /// The part of a statement that tells of events.
    ///
    /// - Parameters:
    ///   - kind: What the mail is about.
    ///   - email: The address that gets it.
    ///   - events: Selects one column, the ids of events in the history.
    /// - Returns: An INSERT.
    /// - Throws: `CryptographyError` when the address can't be sealed.
    func insertion(of kind: MailKind, to email: String, forEach events: PostgresQuery) throws -> PostgresQuery {
        let sealed = try box.seal(Array(email.utf8)).withUnsafeBytes { Base64URL.string(of: $0) }
        return DeliveryStore.insertion(of: MailCause(kind: kind, to: sealed).delivery(), forEach: events)
    }

    /// Tells of an event, in a transaction.
    ///
    /// - Parameters:
    ///   - kind: What the mail is about.
    ///   - email: The address that gets it.
    ///   - event: The id of the event in the history.
    ///   - connection: In the event's transaction.
    /// - Throws: `PostgresError`.
    package func tell(
        _ kind: MailKind,
        to email: String,
        of event: Int,
        on connection: PostgresConnection
    ) async throws {
        try await connection.execute(try insertion(of: kind, to: email, forEach: "SELECT \(event)::bigint"))
    }

    /// The address of a notice; nil when it was sealed with another secret.
    func email(sealed: String) -> String? {
        guard let sealed = Base64URL.bytes(of: sealed), let bytes = try? box.open(sealed) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
