package import Curl
import Deliveries
import FoundationEssentials
import Mail
import NIOCore
import SelfieAccounts
package import SelfieConfiguration

/// Sends a mail at once, to see whether mails arrive.
package struct TestMail: Sendable {
    private let settings: MailSettings
    private let curl: CurlClient

    /// What came of it.
    package enum Outcome: Sendable, Equatable {
        case accepted
        /// It is in the outbox of development.
        case written(folder: String)
        /// The server's reply code, and its enhanced code if there is one.
        case refused(code: Int, enhancedCode: String?)
    }

    /// - Parameters:
    ///   - settings: How mails are sent.
    ///   - curl: The client.
    package init(settings: MailSettings, curl: CurlClient) {
        (self.settings, self.curl) = (settings, curl)
    }

    /// Sends the mail.
    ///
    /// - Parameter address: Who gets it.
    /// - Returns: What came of it.
    /// - Throws: `MailAddressError`, `CurlFailure` when the server did not answer, or an error of Foundation's.
    package func callAsFunction(to address: String) async throws -> Outcome {
        let name = settings.appName
        let mail = MailMessage(
            id: UUID(),
            date: Date(),
            sender: settings.sender,
            recipient: try MailAddress(address),
            subject: "A test of mails from \(name)",
            text: """
                This is a test. If you can read it, mails from \(name) arrive.

                Its last line has letters that not all servers pass on: äöü ñ 漢字 🙂
                """
        )
        switch settings.destination {
        case .outbox(let folder):
            try Outbox(folder: folder, announce: { _ in }).write(
                mail.bytes.readableBytesView,
                id: mail.id,
                at: mail.date,
                kind: "test",
                type: "eml",
                announcing: ""
            )
            return .written(folder: folder)
        case .server(let server):
            switch try await server.send(mail, by: curl) {
            case .accepted: return .accepted
            case .notNow(let reply), .refused(let reply):
                return .refused(code: reply.code, enhancedCode: reply.enhancedCode)
            }
        }
    }
}
