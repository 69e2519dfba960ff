import Postgres
import SelfieAccounts

/// Checks the server that lists and records are read from.
struct StandbyCheck: Sendable {
    let configuration: PostgresConfiguration
    let findings: Findings

    /// What tells databases apart, and what a standby can say of itself.
    private struct Server {
        let identity: String
        let isStandby: Bool
        /// Its own time, in seconds since 1970.
        let time: Int
        /// The last time that a process wrote at the primary, in seconds since 1970; nil if it has none.
        let heartbeat: Int?
    }

    /// Checks nothing without `DATABASE_URL_READ`.
    func run() async {
        guard let url = configuration.standbyURL else { return }
        do {
            // In this order, so that the standby is not taken for one that is behind.
            let primary = try await Self.server(configuration)
            report(try await Self.server(configuration.leading(to: url)), of: primary)
        } catch {
            let error = error as? PostgresError ?? .connectionLost("\(error)")
            findings.failed(
                Diagnosis.cause(of: error, with: "DATABASE_URL_READ", secrets: findings.secrets),
                "Correct it, or remove it. Until then, the primary answers all requests."
            )
        }
    }

    private func report(_ standby: Server, of primary: Server) {
        guard standby.identity == primary.identity else {
            return findings.failed(
                "DATABASE_URL_READ leads to another database than DATABASE_URL",
                "Set it to a standby of the same database, or remove it."
            )
        }
        guard standby.isStandby else {
            return findings.warning(
                "DATABASE_URL_READ leads to the primary, so it takes no load from it",
                """
                That is right between the two rounds of restarts that turn it on or off. Otherwise, set it to a standby, or remove it. \
                See docs/operations.md#standbys.
                """
            )
        }
        guard let beat = primary.heartbeat, primary.time - beat <= ReplicationHeartbeat.maxAge else {
            return findings.ok(
                "a standby of the same database; its delay is not known, since no process of the service writes the time"
            )
        }
        guard let replayed = standby.heartbeat else {
            return findings.warning("it has no time that a process wrote, so it is not asked", Self.lookIntoLog)
        }
        // Nothing shows what it has replayed since then.
        let delay = primary.time - replayed
        if delay > ReplicationHeartbeat.maxAge {
            findings.warning("it is \(delay) seconds behind, so it is not asked", Self.lookIntoLog)
        } else {
            let atMost = max(Int(ReplicationHeartbeat.interval.components.seconds), delay)
            findings.ok("a standby of the same database, at most \(atMost) seconds behind")
        }
    }

    private static let lookIntoLog =
        "Look into its log for what stops the replication. See docs/operations.md#standbys."

    private static func server(_ configuration: PostgresConfiguration) async throws -> Server {
        try await PostgresClient.withClient(configuration: configuration) { client in
            let rows = try await client.read(
                """
                SELECT system_identifier || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database())
                        AS identity,
                    pg_is_in_recovery() AS is_standby, extract(epoch FROM now())::bigint AS time,
                    (SELECT extract(epoch FROM beaten_at)::bigint FROM replication_heartbeat) AS heartbeat
                FROM pg_control_system()
                """
            )
            return Server(
                identity: try rows[0].decode("identity"),
                isStandby: try rows[0].decode("is_standby"),
                time: try rows[0].decode("time"),
                heartbeat: try rows[0].decodeIfPresent("heartbeat")
            )
        }
    }
}
