import Concurrency
import Postgres

/// Checks whether notifications of changes arrive.
///
/// A pooler in transaction mode takes the request to listen, and delivers nothing.
struct NotificationCheck: Sendable {
    let configuration: PostgresConfiguration
    /// How long a connection and a notification may take.
    let limit: Duration
    let findings: Findings

    private static let page = "docs/operations.md#processes"

    func run() async {
        switch await outcome() {
        case .arrived: findings.ok("arrive at once")
        case .notConnected(let error):
            findings.failed(
                Diagnosis.cause(of: error, with: "DATABASE_URL_LISTEN", secrets: findings.secrets),
                "Set it to the database itself. Until then, changes arrive up to ten seconds late."
            )
        case .failed(let error): findings.failed(.database(error, secrets: findings.secrets))
        case .missed where configuration.listenURL == nil:
            findings.warning(
                "do not arrive, so changes come up to ten seconds late",
                "Set DATABASE_URL_LISTEN to the database itself, past the pooler. See \(Self.page)."
            )
        case .missed:
            findings.warning(
                "do not arrive, so changes come up to ten seconds late",
                "DATABASE_URL_LISTEN must lead to the same database's primary, past poolers. See \(Self.page)."
            )
        }
    }

    private enum Outcome {
        case arrived
        case missed
        case notConnected(PostgresError)
        /// Whether they arrive could not be tried.
        case failed(PostgresError)
    }

    /// Sends a notification by the pool's connections, and waits for it.
    private func outcome() async -> Outcome {
        if let error = await connectError() { return .notConnected(error) }
        do {
            return try await PostgresClient.withClient(configuration: configuration) { client in
                try await race {
                    let channel = "selfie_doctor_\(UInt64.random(in: 0 ... .max))"
                    for await event in client.listen(to: channel) {
                        guard case .mayHaveMissed = event else { return .arrived }
                        _ = try await client.read("SELECT pg_notify(\(channel), '') IS NULL AS is_sent")
                    }
                    return .missed
                } against: {
                    try await Task.sleep(for: limit)
                    return CancellationError()
                }
            }
        } catch let error as PostgresError {
            return .failed(error)
        } catch {
            // The time is over.
            return .missed
        }
    }

    /// Why the URL for notifications can't be used; nil when it can, and when there is none.
    private func connectError() async -> PostgresError? {
        guard let url = configuration.listenURL else { return nil }
        do {
            _ = try await PostgresClient.withClient(configuration: configuration.leading(to: url)) {
                try await $0.read("SELECT 1 AS one")
            }
            return nil
        } catch {
            return error as? PostgresError ?? .connectionLost("\(error)")
        }
    }
}
