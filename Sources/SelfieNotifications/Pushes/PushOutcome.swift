import Cryptography
import Curl
import Deliveries
import Metrics
import Postgres
import Push

/// What the errors of a push mean for its delivery.
enum PushOutcome {
    /// Runs a try.
    ///
    /// - Parameters:
    ///   - server: The server that is asked first.
    ///   - attempt: Composes and sends.
    /// - Returns: What came of it.
    static func of(_ server: String, _ attempt: () async throws -> DeliveryOutcome) async -> DeliveryOutcome {
        do {
            return try await attempt()
        } catch {
            return outcome(of: error, server)
        }
    }

    private static func outcome(of error: any Error, _ server: String) -> DeliveryOutcome {
        switch error {
        case is PushComposer.UnknownCause: .refused(reason: "unknown_cause")
        case is PostgresError: .notNow(reason: "database")
        case is CancellationError: .notNow(reason: "interrupted")
        case let failure as PushServer.Unavailable:
            failure.error.map { .unavailable(reason: "\($0)", server: failure.server) }
                ?? .postponed(server: failure.server)
        // Of a server that gives access tokens.
        case let failure as CurlFailure: .unavailable(reason: "\(failure.reason)", server: server)
        // Another process makes the token just now, so the push was not tried, or not to its end.
        case is ProviderTokens.NotYet: .postponed(server: server)
        case let refusal as FCMClient.TokenRefused where refusal.status >= 500:
            .unavailable(reason: "OAuth \(refusal.status)", server: server)
        case let refusal as FCMClient.TokenRefused: .notNow(reason: refusal.code ?? "OAuth \(refusal.status)")
        default: .notNow(reason: "failed")
        }
    }
}

/// Counts what becomes of devices.
struct PushMetrics: Sendable {
    /// A sentence for each metric, by its name in Prometheus.
    static let help = [
        "push_devices_removed_total": "Devices that Apple or Google does not know any more, by platform and reason."
    ]

    private let factory: any MetricsFactory

    init(factory: any MetricsFactory) { self.factory = factory }

    /// A device was removed.
    func removed(_ platform: Device.Platform, _ reason: String) {
        Counter(
            label: "push_devices_removed",
            dimensions: [("platform", platform.rawValue), ("reason", reason)],
            factory: factory
        ).increment()
    }
}
