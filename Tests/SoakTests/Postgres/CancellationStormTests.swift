import DatabaseTestSupport
import Postgres
import ServerProcesses
import Synchronization
import TestSupport
import Testing

@Suite("A storm of cancellations", .serialized, .timeLimit(.minutes(5)))
struct CancellationStormTests {
    @Test("Ten thousand statements, many of them cancelled at random: no wrong row, no transaction left open")
    func storm() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let configuration = try PostgresConfiguration.patient(url: url, maxConnections: 4)
            try await PostgresClient.withClient(configuration: configuration) { client in
                try await client.write("CREATE TABLE things (id int)")
                let cancelled = Atomic(0)
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for worker in 0..<20 {
                        group.addTask {
                            var generator = SplitMix64(seed: UInt64(worker))
                            var count = 0
                            for round in 0..<500 {
                                let number = worker * 1000 + round
                                let isAnswered = try await RandomCancellation.run(
                                    number,
                                    on: client,
                                    slow: { "SELECT \($0) AS id, pg_sleep(0.001)" },
                                    using: &generator
                                )
                                count += isAnswered ? 0 : 1
                            }
                            return count
                        }
                    }
                    for try await count in group { cancelled.add(count, ordering: .relaxed) }
                }
                #expect(cancelled.load(ordering: .relaxed) > 100)
                #expect(try await client.read("SELECT * FROM things").isEmpty)
                try await poll("no transaction is open") {
                    let rows = try await client.read(
                        """
                        SELECT pid FROM pg_stat_activity
                        WHERE datname = current_database() AND state LIKE 'idle in transaction%'
                        """
                    )
                    return rows.isEmpty
                }
            }
        }
    }
}
