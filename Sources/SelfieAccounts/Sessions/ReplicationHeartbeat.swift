import Logging
import Outages
import Postgres

/// Writes the primary's time, whose age at a standby is how far that is behind.
package struct ReplicationHeartbeat: Sendable {
    /// How often a process beats.
    package static let interval: Duration = .seconds(5)

    /// The age, in seconds, up to which a standby with the heartbeat is read: how far behind it may be, and its clock.
    package static let maxAge = 60

    private let postgres: PostgresClient
    private let report: OutageReport

    init(postgres: PostgresClient, logger: Logger) {
        self.postgres = postgres
        report = OutageReport(of: "the heartbeat for standbys", logger: logger)
    }

    /// Writes the time, unless another process has just done so.
    ///
    /// An error is logged: standbys are not read any more without a heartbeat of the last ``maxAge`` seconds.
    package func beatOrWarn() async {
        do {
            try await postgres.write(
                """
                INSERT INTO replication_heartbeat (beaten_at) VALUES (now())
                ON CONFLICT (is_only) DO UPDATE SET beaten_at = now()
                WHERE replication_heartbeat.beaten_at NOT BETWEEN now() - interval '4 seconds' AND now()
                """
            )
            report.succeeded()
        } catch {
            report.failed("\(error)")
        }
    }
}
