import ArgumentParser
import Curl
import Mail
import SelfieConfiguration
import SelfieOperations

struct MailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mail",
        abstract: "Try the settings of mails.",
        subcommands: [SendTestMail.self]
    )
}

struct SendTestMail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Send a mail at once, and say what the server replied.",
        discussion: """
            Only SMTP_URL and MAIL_FROM are needed. Look whether the mail arrives, and not in the folder for spam. See \
            docs/mail.md.
            """
    )

    @Argument(help: "Who gets it.")
    var address: String

    func run() async throws {
        let (source, outbox) = try ConfigurationSource.ofThisCommandAndOutbox()
        guard outbox != nil || source.value(of: "SMTP_URL") != nil else { throw MailFailure.noServer }
        let settings = try source.read { $0.mail(outbox: outbox) }
        do {
            let outcome = try await TestMail(settings: settings, curl: CurlClient())(to: address)
            switch outcome {
            case .accepted: print("The server has taken the mail.")
            case .written(let folder): print("The mail is in \(folder).")
            case .refused(let code, let enhancedCode):
                throw MailFailure.refused("\(code)\(enhancedCode.map { " \($0)" } ?? "")")
            }
        } catch let error as CurlFailure {
            throw MailFailure.noAnswer("\(error)")
        } catch let error as MailAddressError {
            throw MailFailure.address("\(error)")
        }
    }
}

/// A mail was not sent.
private enum MailFailure: Error, CustomStringConvertible {
    case noServer
    case address(String)
    case refused(String)
    case noAnswer(String)

    var description: String {
        switch self {
        case .noServer: "SMTP_URL is not set, so no mail is sent. See docs/mail.md."
        case .address(let reason): "No mail can go there: \(reason)."
        case .refused(let reply): "The server refused the mail: \(reply). See docs/mail.md#errors."
        case .noAnswer(let reason): "The server can't be used: \(reason). Run selfie doctor."
        }
    }
}
