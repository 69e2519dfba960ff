import DatabaseTestSupport
import Logging
import Postgres
import TestSupport
import Testing

@testable import SelfieAccounts

@Suite("The heartbeat for standbys", .timeLimit(.minutes(1)))
struct ReplicationHeartbeatTests {
    /// After a failover to a host whose clock is behind, the last heartbeat is in the future.
    ///
    /// While it stays, a standby that replicates no more would pass for a good one.
    @Test("It is replaced when it is old, and when it is in the future")
    func replaced() async throws {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                let log = TestLog()
                let heartbeat = ReplicationHeartbeat(postgres: postgres, logger: log.logger(level: .info))
                for hours in [0, -1, 1] {
                    try await postgres.write(
                        "UPDATE replication_heartbeat SET beaten_at = now() + make_interval(hours => \(hours)::integer)"
                    )
                    await heartbeat.beatOrWarn()
                    let rows = try await postgres.read(
                        "SELECT beaten_at BETWEEN now() - interval '30 minutes' AND now() AS is_new FROM replication_heartbeat"
                    )
                    #expect(try rows.map { try $0.decode("is_new", as: Bool.self) } == [true], "\(hours)")
                }
                #expect(log.entries.isEmpty)
            }
        }
    }
}
