import CoreMetrics
import Curl
import Postgres
import SelfieConfiguration
import SelfieCore
import SelfieNotifications

/// Checks whether Apple and Google know the service.
///
/// It reaches no device.
struct PushCheck: Sendable {
    let postgres: PostgresConfiguration
    /// `SECRET_KEY_BASE`.
    let secret: String
    let settings: PushSettings
    /// How connections are made.
    let connections: CurlConfiguration
    let findings: Findings

    func run() async {
        let route = settings.route(connections: connections)
        if route.platforms.isEmpty {
            return findings.ok("none is sent, since neither APNS_KEY nor FCM_SERVICE_ACCOUNT is set")
        }
        do {
            try await Installation.withDatabase(postgres, maxConnections: 1) { postgres in
                let pushes = Pushes(
                    route: route,
                    postgres: postgres,
                    secret: secret,
                    sendsContents: false,
                    metrics: NOOPMetricsHandler.instance
                )
                for (platform, finding) in await pushes.check() { note(finding, of: platform) }
            }
        } catch {
            // The check of the database has said why.
        }
    }

    private func note(_ finding: Pushes.Finding, of platform: Device.Platform) {
        let (name, setting) =
            switch platform {
            case .apns: ("Apple", "APNS_KEY, APNS_KEY_ID, APNS_TEAM_ID and APNS_TOPIC")
            case .fcm: ("Google", "FCM_SERVICE_ACCOUNT")
            }
        switch finding {
        case .accepted: findings.ok("\(name) knows the service")
        case .refused(let word):
            findings.failed("\(name) refuses the service: \(word)", "Correct \(setting). See docs/push.md.")
        case .unreachable(let error):
            findings.failed(
                "\(name) can't be reached: \(error)",
                "Check this machine's DNS, and the network and firewall in between."
            )
        case .noToken:
            findings.failed(
                "there is no token for \(name) at present",
                "Run selfie doctor again in a minute. If that does not help, correct \(setting)."
            )
        }
    }
}
