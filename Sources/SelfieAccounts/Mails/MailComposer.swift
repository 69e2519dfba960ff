import Deliveries
import Encodings
import FoundationEssentials
package import Mail
import Postgres

/// What all mails of a service share.
package struct MailIdentity: Sendable {
    /// Whom mails are from.
    package let sender: MailSender
    /// The app's name.
    package let appName: String
    /// The app's URL, if it has one.
    package let appURL: String?

    package init(sender: MailSender, appName: String, appURL: String?) {
        (self.sender, self.appName, self.appURL) = (sender, appName, appURL)
    }
}

/// What a mail of a subscription says.
package struct ChangeNotice: Sendable {
    package let userID: Int
    /// The address as the account has it.
    package let email: String
    /// The collection's name.
    package let collection: String
    /// A line for each change.
    package let changes: String

    package init(userID: Int, email: String, collection: String, changes: String) {
        (self.userID, self.email, self.collection, self.changes) = (userID, email, collection, changes)
    }
}

/// Composes mails from what is there when they are sent.
struct MailComposer: Sendable {
    let postgres: PostgresClient
    let keys: CodeKeys
    let notices: Notices
    /// Counts notices by address.
    let limiter: RateLimiter
    let identity: MailIdentity
    let templates: MailTemplates
    let changeNotice: @Sendable (Delivery) async throws -> ChangeNotice?
    let now: @Sendable () -> Date

    /// A mail, and what was sent in it.
    struct ComposedMail: Sendable {
        let message: MailMessage
        /// Who gets it.
        let userID: Int
        /// The address as the account has it.
        let email: String
        /// The code in it, for the outbox.
        let code: String?
        /// What it was counted for.
        var counted = CountedActions()
    }

    /// Why there is nothing to send.
    enum Unsendable: Error {
        /// The code or the account is gone, or the user was told often enough.
        case pointless
        case refused(reason: String)
    }

    /// Composes a mail.
    ///
    /// - Throws: ``Unsendable``, `PostgresError`.
    func compose(_ delivery: Delivery) async throws -> ComposedMail {
        if delivery.kind == MailKind.recordsChanged.rawValue { return try await composeChangeNotice(delivery) }
        guard let cause = try? JSONDecoder().decode(MailCause.self, from: Data(delivery.cause.utf8)) else {
            throw Unsendable.refused(reason: "unknown_cause")
        }
        if let code = cause.code { return try await compose(delivery.id, cause.kind, code: code) }
        guard let event = cause.event, let sealed = cause.to else {
            throw Unsendable.refused(reason: "unknown_cause")
        }
        guard let email = notices.email(sealed: sealed) else { throw Unsendable.refused(reason: "secret_changed") }
        return try await compose(delivery.id, cause.kind, event: event, to: email)
    }

    private func composeChangeNotice(_ delivery: Delivery) async throws -> ComposedMail {
        guard let notice = try await changeNotice(delivery) else { throw Unsendable.pointless }
        var composed = try mail(
            delivery.id,
            .recordsChanged,
            [.collection: notice.collection, .changes: notice.changes],
            userID: notice.userID,
            email: notice.email,
            code: nil
        )
        do {
            composed.counted = try await limiter.count([.changeMail(userID: notice.userID)], ofUser: nil, from: .none)
        } catch is RateLimitExceeded {
            throw Unsendable.pointless
        }
        return composed
    }

    private func compose(_ id: UUID, _ kind: MailKind, code: UUID) async throws -> ComposedMail {
        let row = try await postgres.read(
            """
            SELECT users.id AS user_id, purpose, coalesce(codes.email, users.email) AS email
            FROM codes JOIN users ON users.id = codes.user_id
            WHERE codes.id = \(code) AND ends_at > now() AT TIME ZONE 'UTC' AND disabled_at IS NULL
            """
        ).first
        guard let row, let purpose = CodePurpose(rawValue: try row.decode("purpose")) else {
            throw Unsendable.pointless
        }
        let digits = keys.digits(of: code, for: purpose)
        return try mail(
            id,
            kind,
            [.code: digits, .minutes: "\(CodeStore.lifetimeSeconds / 60)"],
            userID: try row.decode("user_id"),
            email: try row.decode("email"),
            code: digits
        )
    }

    private func compose(_ id: UUID, _ kind: MailKind, event: Int, to email: String) async throws -> ComposedMail {
        let row = try await postgres.read(
            """
            SELECT told.event, told.user_id, told.happened_at, told.address, email_refused_at IS NOT NULL AS is_refused,
                email_verified_at IS NOT NULL OR EXISTS (
                    SELECT FROM former_emails AS former
                    WHERE former.user_id = told.user_id AND lower(btrim(former.email)) = lower(btrim(\(email)))
                ) AS is_proven
            FROM audit_events AS told
            LEFT JOIN users ON users.id = told.user_id AND lower(btrim(users.email)) = lower(btrim(\(email)))
            WHERE told.id = \(event)
            """
        ).first
        guard let row, try !row.decode("is_refused") else { throw Unsendable.pointless }
        let address: String? = try row.decodeIfPresent("address")
        let network = address.flatMap { ClientAddress(ip: $0)?.maskedNetwork }
        var composed = try mail(
            id,
            kind,
            [
                .time: Self.text(of: try row.decode("happened_at")),
                .place: network.map { "the network \($0)" } ?? "an unknown place",
                .actor: Self.actor(of: AuditEvent(rawValue: try row.decode("event"))),
            ],
            userID: try row.decode("user_id"),
            email: email,
            code: nil
        )
        // An address that nobody has proven may be anybody's, in account after account.
        let counted = try row.decode("is_proven", as: Bool.self) ? kind : nil
        do {
            composed.counted = try await limiter.count([.notice(counted, to: email)], ofUser: nil, from: .none)
        } catch is RateLimitExceeded {
            throw Unsendable.pointless
        }
        return composed
    }

    private func mail(
        _ id: UUID,
        _ kind: MailKind,
        _ values: [MailTemplates.Placeholder: String],
        userID: Int,
        email: String,
        code: String?
    ) throws(Unsendable) -> ComposedMail {
        let recipient: MailAddress
        do { recipient = try MailAddress(email) } catch { throw .refused(reason: "address_\(error.word)") }
        let shared: [MailTemplates.Placeholder: String] = [
            .app: identity.appName, .link: identity.appURL ?? identity.appName,
        ]
        let (subject, text) = templates.mail(kind, values.merging(shared) { first, _ in first })
        let message = MailMessage(
            id: id,
            date: now(),
            sender: identity.sender,
            recipient: recipient,
            subject: subject,
            text: text
        )
        return ComposedMail(message: message, userID: userID, email: email, code: code)
    }

    private static func text(of date: Date) -> String {
        let text = date.contractText
        return "\(text.prefix(10)) at \(text.dropFirst(11).prefix(5)) UTC"
    }

    private static func actor(of event: AuditEvent?) -> String {
        switch event {
        case .passwordReset: "with the old password"
        case .passwordRecovered: "with a code that was sent to this address"
        case .passwordSet: "for the first time, with a code that was sent to this address"
        default: "by the people who run the service"
        }
    }
}
