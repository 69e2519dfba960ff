import Curl
import Deliveries
import Mail
import Postgres
import SelfieAccounts
import SelfieConfiguration

/// Checks the server and the texts of mails, and what waits to be sent.
///
/// It signs in, and sends nothing.
struct MailCheck: Sendable {
    /// nil when no mail is sent.
    let settings: MailSettings?
    /// Whether there are settings of mails that can't be used, which the check of the settings has said.
    let isMalformed: Bool
    let curl: CurlClient
    let limit: Duration
    let findings: Findings

    func run() async {
        guard !isMalformed else { return findings.skipped("the server, since its settings are malformed") }
        guard let settings else {
            return findings.ok("none is sent, since SMTP_URL is not set; users can't recover a forgotten password")
        }
        checkTemplates(settings)
        switch settings.destination {
        case .outbox(let folder): findings.ok("all mails go into the folder \(folder)")
        case .server(let server): await check(server)
        }
    }

    private func checkTemplates(_ settings: MailSettings) {
        guard let folder = settings.templates else { return }
        do throws(MailTemplateErrors) {
            _ = try MailTemplates(folder: folder)
            findings.ok("the templates in \(folder) can be used")
        } catch {
            for error in error.errors {
                let text = "\(error)"
                findings.failed(
                    "\(text.prefix(1).lowercased())\(text.dropFirst().dropLast())",
                    "Correct it. See docs/mail.md#texts."
                )
            }
        }
    }

    private func check(_ server: MailServer) async {
        var server = server
        server.maxSendTime = limit * 2
        let name = "\(server.host):\(server.port)"
        do {
            let reply = try await server.check(by: curl)
            if reply.code < 400 {
                return findings.ok("\(name) lets the service \(server.signsIn ? "sign in" : "send")")
            }
            findings.failed(
                "\(name) does not let the service sign in: it replied \(reply.code)",
                reply.code >= 500
                    ? "Correct user and password in SMTP_URL. See docs/mail.md#errors."
                    : "Run selfie doctor again in a minute. If that does not help, see the server's status."
            )
        } catch let failure as CurlFailure {
            findings.failed(diagnosis(of: failure.reason, name: name))
        } catch {
            findings.failed("\(name) can't be used", "Run selfie doctor again.")
        }
    }

    private func diagnosis(of error: CurlError, name: String) -> Diagnosis {
        let remedy =
            switch error {
            case .unresolved, .timedOut(.resolving): "Check the host in SMTP_URL, and this machine's DNS."
            case .refused: "Start the mail server, or correct host and port in SMTP_URL."
            case .timedOut(.handshake), .notHTTP, .cutOff, .silent, .overdue, .tls(.notTLS):
                "Try the other scheme: smtps:// is for port 465, and smtp:// for 587. Many hosters block port 25."
            case .unreachable, .timedOut, .addressNotAllowed:
                "Check host and port in SMTP_URL, and the network and firewall in between."
            case .tls(.notOffered): "Use smtps:// and port 465. Without TLS, nothing is sent."
            case .tls(.selfSigned), .tls(.unknownIssuer):
                "Set SSL_CERT_FILE to a file with the certificate of the server's authority."
            case .tls(.trustFile): "Set SSL_CERT_FILE to a file with certificates in PEM, or remove it."
            case .tls: "Check the server's certificate, and that SMTP_URL has the name that is in it."
            case .loginNotOffered: "Remove user and password from SMTP_URL, or turn signing in on at the server."
            case .proxy: "Remove all_proxy from the environment: mails go straight to the server."
            case .tooLarge, .noDescriptor, .cancelled, .source, .invalidRequest, .other: "See docs/mail.md#errors."
            }
        return Diagnosis(cause: "\(name) can't be used: \(findings.secrets.hidden(in: "\(error)"))", remedy: remedy)
    }
}

/// Looks at what waits to be sent.
struct DeliveryCheck: Sendable {
    let postgres: PostgresConfiguration
    let findings: Findings

    /// After this time, something must be wrong.
    private static let maxAge = 900

    func run() async {
        do {
            let summaries = try await Installation.withDatabase(postgres, maxConnections: 1) { postgres in
                try await DeliveryStore(postgres: postgres).summaries()
            }
            for summary in summaries { note(summary) }
            if summaries.allSatisfy({ $0.waitingCount + $0.failedCount == 0 }) { findings.ok("none waits") }
        } catch {
            // The check of the database has said why.
        }
    }

    private func note(_ summary: DeliverySummary) {
        let channel = summary.channel.rawValue
        if summary.waitingCount > 0 {
            let text = "\(summary.waitingCount) of \(channel) wait, the oldest since \(summary.oldestAge) s"
            if summary.oldestAge > Self.maxAge {
                findings.warning(text, "Run selfie deliveries list to see the reasons. A running service sends them.")
            } else {
                findings.ok(text)
            }
        }
        if summary.failedCount > 0 {
            findings.warning(
                "\(summary.failedCount) of \(channel) failed in the last seven days",
                "Run selfie deliveries list --failed to see the reasons. Then retry or drop them."
            )
        }
    }
}
