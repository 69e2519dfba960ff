import Curl
import Postgres
import SelfieNotifications
import Webhooks

/// Checks whether the receivers of webhooks can be reached.
///
/// It sends no event.
struct WebhookCheck: Sendable {
    let postgres: PostgresConfiguration
    /// `SECRET_KEY_BASE`.
    let secret: String
    let networks: WebhookNetworks
    /// How connections are made.
    let connections: CurlConfiguration
    let limit: Duration
    let findings: Findings

    func run() async {
        do {
            try await Installation.withDatabase(postgres, maxConnections: 1) { postgres in
                let store = WebhookStore(postgres: postgres, secret: secret)
                let webhooks = try await store.list()
                if webhooks.isEmpty { findings.ok("there are none") }
                for webhook in webhooks { try await check(webhook, store) }
            }
        } catch {
            // The check of the database has said why.
        }
    }

    private func check(_ webhook: Webhook, _ store: WebhookStore) async throws {
        let name = "webhook \(webhook.id)"
        switch webhook.disabledReason {
        case .byHand: return findings.ok("\(name) is disabled")
        case .gone:
            return findings.warning(
                "\(name) is disabled, since its receiver answered 410",
                "Run selfie webhooks remove \(webhook.id), or enable it again."
            )
        case .failing:
            return findings.warning(
                "\(name) is disabled, since nothing was taken for days, or too many events waited",
                "Mend its receiver. Then run selfie webhooks test \(webhook.id), and enable \(webhook.id)."
            )
        case nil: break
        }
        do {
            _ = try await store.secrets(webhook.id)
        } catch is WebhookStore.OtherSecret {
            return findings.failed(
                "the secret of \(name) was sealed with another SECRET_KEY_BASE, so nothing is sent to it",
                "Set SECRET_KEY_BASE as before, or run selfie webhooks rotate \(webhook.id)."
            )
        }
        guard let url = WebhookURL(webhook.url) else { return }
        var sender = WebhookSender(networks: networks, connections: connections)
        sender.maxSendTime = limit
        do {
            try await sender.reach(url)
        } catch let failure as CurlFailure {
            return findings.warning(
                "\(name) at \(url.host) can't be reached: \(failure.reason)",
                remedy(failure.reason)
            )
        }
        guard webhook.failingSince == nil else {
            return findings.warning(
                "\(name) at \(url.host) can be reached, and takes nothing",
                "Run selfie webhooks test \(webhook.id), and selfie deliveries list to see the reasons."
            )
        }
        findings.ok("\(name) at \(url.host) can be reached")
    }

    private func remedy(_ error: CurlError) -> String {
        switch error {
        case .addressNotAllowed:
            "Its address is in no public network. Name the network in WEBHOOK_NETWORKS, if events may go there."
        case .unresolved, .timedOut(.resolving): "Check the host in its URL, and this machine's DNS."
        case .tls(.selfSigned), .tls(.unknownIssuer):
            "Set SSL_CERT_FILE to a file with the certificate of the receiver's authority."
        case .tls: "Check the receiver's certificate, and that the URL has the name that is in it."
        default: "Start the receiver, and check the network and firewall in between. See docs/webhooks.md#errors."
        }
    }
}
