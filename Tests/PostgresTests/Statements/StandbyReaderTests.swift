import DatabaseTestSupport
import MetricsTestKit
import ServerProcesses
import Testing

@testable import Postgres

@Suite("Reading from a standby", .timeLimit(.minutes(2)))
struct StandbyReaderTests {
    @Test("While a standby hangs, one reader at a time waits for it, and the primary answers the others")
    func hanging() async throws {
        let metrics = TestMetrics()
        func count(_ result: String) -> Int64 {
            (try? metrics.expectCounter("postgres_standby_reads", [("result", result)]).totalValue) ?? 0
        }
        try await OwnCluster.use { standby in
            func adjust(_ configuration: inout PostgresConfiguration) {
                try? configuration.setStandbyURL(standby.url)
                configuration.statementTimeout = .milliseconds(500)
                configuration.metrics = metrics
            }
            try await withClient(adjust: adjust) { client, _ async throws in
                @Sendable func read() async throws {
                    try await ReadPosition.$current.withValue(ReadPosition(isReplayedIf: "true")) {
                        _ = try await client.readFromStandby("SELECT 1 AS one")
                    }
                }
                try await read()
                #expect(count("answered") == 1)
                try await standby.suspend()
                try await read()
                #expect(count("failed") == 1)
                // The pause after the first failure is 50 ms at most.
                try await Task.sleep(for: .milliseconds(60))
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for _ in 0..<20 { tasks.addTask { try await read() } }
                    try await tasks.waitForAll()
                }
                #expect(count("failed") == 2)
                #expect(count("skipped") == 19)
                standby.resume()
                try await poll("it is asked again") {
                    try await read()
                    return count("answered") > 1
                }
            }
        }
    }
}
