package import Curl
package import Deliveries
import FoundationEssentials
package import Mail
import NIOCore
import Postgres

/// Where mails go.
package enum MailRoute: Sendable {
    /// To a server, by SMTP.
    case server(MailServer, CurlClient)
    /// Into a folder, for development.
    case outbox(Outbox)
}

/// Sends mails.
package struct MailChannel: DeliveryChannel {
    let composer: MailComposer
    let emails: EmailStore
    let audit: AuditStore
    let route: MailRoute

    package var name: DeliveryChannelName { .mail }

    package func send(_ delivery: Delivery) async -> DeliveryOutcome {
        do {
            let mail = try await composer.compose(delivery)
            let outcome = await send(mail, kind: delivery.kind)
            // It counts at the next try.
            if case .notNow = outcome { await composer.limiter.giveBack(mail.counted) }
            return outcome
        } catch {
            return Self.outcome(of: error)
        }
    }

    private func send(_ mail: MailComposer.ComposedMail, kind: String) async -> DeliveryOutcome {
        do {
            switch route {
            case .outbox(let outbox):
                let message = mail.message
                try outbox.write(
                    message.bytes.readableBytesView,
                    id: message.id,
                    at: message.date,
                    kind: kind,
                    type: "eml",
                    announcing: """
                        mail to \(message.recipient.text): \(mail.code.map { "your code is \($0)" } ?? message.subject)
                        """
                )
                try await note(mail)
                return .sent
            case .server(let server, let curl):
                let outcome = try await server.send(mail.message, by: curl)
                if outcome == .accepted { try await note(mail) }
                if case .refused = outcome { try await emails.noteRefusal(of: mail.email, ofUser: mail.userID) }
                return Self.outcome(of: outcome)
            }
        } catch {
            return Self.outcome(of: error)
        }
    }

    private static func outcome(of error: any Error) -> DeliveryOutcome {
        switch error {
        case MailComposer.Unsendable.pointless: .pointless
        case MailComposer.Unsendable.refused(let reason): .refused(reason: reason)
        case is PostgresError: .notNow(reason: "database")
        case let error as CurlFailure: .notNow(reason: "\(error.reason)")
        default: .notNow(reason: "failed")
        }
    }

    /// Notes a code in the history of its user.
    private func note(_ mail: MailComposer.ComposedMail) async throws {
        guard mail.code != nil else { return }
        try await audit.add(.codeSent, userID: mail.userID)
    }

    /// What a server has said, without its text: that may have the address.
    private static func outcome(of outcome: MailServer.Outcome) -> DeliveryOutcome {
        switch outcome {
        case .accepted: .sent
        case .notNow(let reply): .notNow(reason: reason(of: reply))
        case .refused(let reply): .refused(reason: reason(of: reply))
        }
    }

    private static func reason(of reply: MailReply) -> String {
        let step =
            switch reply.command {
            case .connection: "connection"
            case .sender: "MAIL"
            case .recipient: "RCPT"
            case .message: "DATA"
            }
        return [step, "\(reply.code)", reply.enhancedCode].compactMap(\.self).joined(separator: " ")
    }
}
