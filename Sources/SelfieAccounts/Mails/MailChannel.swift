package import Curl
package import Deliveries
import FoundationEssentials
package import Mail
import Postgres

/// Where mails go.
package enum MailRoute: Sendable {
    /// To a server, by SMTP.
    case server(MailServer, CurlClient)
    /// Into a folder, for development.
    case outbox(MailOutbox)
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
            switch route {
            case .outbox(let outbox):
                try outbox.write(mail.message, kind: delivery.kind, code: mail.code)
                try await note(mail)
                return .sent
            case .server(let server, let curl):
                let outcome = try await server.send(mail.message, by: curl)
                if outcome == .accepted { try await note(mail) }
                if case .refused = outcome { try await emails.noteRefusal(of: mail.email, ofUser: mail.userID) }
                return Self.outcome(of: outcome)
            }
        } catch MailComposer.Unsendable.pointless {
            return .pointless
        } catch MailComposer.Unsendable.refused(let reason) {
            return .refused(reason: reason)
        } catch is PostgresError {
            return .notNow(reason: "database")
        } catch let error as CurlFailure {
            return .notNow(reason: "\(error.reason)")
        } catch {
            return .notNow(reason: "failed")
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
