import DatabaseTestSupport
import MetricsTestKit
import ServerProcesses
import Testing

@testable import Postgres

@Suite("Reading from a standby", .timeLimit(.minutes(2)))
struct StandbyReaderTests {
    /// A client with a standby, whose time stands still unless a test moves it.
    private struct Scene: Sendable {
        let clocked: ClockedClient
        let standby: PostgresClient
        /// What is said to the standby goes through it.
        let gate: GatedServer
        let metrics: TestMetrics

        /// How many reads ended so: as `answered`, `failed` or `skipped`.
        func count(_ result: String) -> Int64 {
            (try? metrics.expectCounter("postgres_standby_reads", [("result", result)]).totalValue) ?? 0
        }

        func read(_ query: PostgresQuery = "SELECT 1 AS one") async throws {
            try await ReadPosition.$current.withValue(ReadPosition(isReplayedIf: "true")) {
                _ = try await clocked.client.readFromStandby(query)
            }
        }
    }

    /// Runs a body with a client of one connection to each of primary and standby.
    ///
    /// Both are the same server.
    private static func run(
        statementTimeout: Duration = .seconds(60),
        _ body: (Scene) async throws -> Void
    ) async throws {
        let (url, metrics) = (try await TestCluster.scratchDatabase(), TestMetrics())
        try await GatedServer.run(before: url, passes: .max) { gate async throws in
            func adjust(_ configuration: inout PostgresConfiguration) {
                try? configuration.setStandbyURL(gate.url)
                configuration.statementTimeout = statementTimeout
                configuration.metrics = metrics
            }
            try await ClockedClient.run(url: url, adjust: adjust) { clocked async throws in
                let standby = try #require(clocked.client.standby).client
                try await body(Scene(clocked: clocked, standby: standby, gate: gate, metrics: metrics))
            }
        }
    }

    @Test("While a standby hangs, one reader at a time waits for it, and the primary answers the others")
    func hanging() async throws {
        try await Self.run { scene async throws in
            try await scene.read()
            #expect(scene.count("answered") == 1)
            scene.gate.close()
            let first = Task { try await scene.read() }
            try await poll("the standby is asked") { await scene.standby.underWayCount == 1 }
            await scene.clocked.advance(by: .milliseconds(60_500))
            try await first.value
            #expect(scene.count("failed") == 1)
            try await scene.read()
            #expect(scene.count("skipped") == 1)

            // The first pause is 50 ms at most. The one connection is still at the first statement.
            await scene.clocked.advance(by: .milliseconds(50))
            let left = Task { try await scene.read() }
            try await poll("one reader finds out") { await scene.standby.waiterCount == 1 }
            left.cancel()
            await #expect(throws: PostgresError.self) { try await left.value }
            let next = Task { try await scene.read() }
            try await poll("the next one finds out") { await scene.standby.waiterCount == 1 }
            for _ in 0..<20 { try await scene.read() }
            // Longer than any pause until now.
            await scene.clocked.advance(by: .milliseconds(400))
            try await scene.read()
            #expect(scene.count("skipped") == 22)
            #expect(scene.count("failed") == 1)
            await scene.clocked.advance(by: .milliseconds(100))
            try await next.value
            #expect(scene.count("failed") == 2)
            try await scene.read()
            #expect(scene.count("skipped") == 23)

            scene.gate.open()
            let back = Task { repeat { try await scene.read() } while scene.count("answered") < 2 }
            try await poll("it is asked again") {
                await scene.clocked.advance(by: .milliseconds(100))
                return scene.count("answered") == 2
            }
            try await back.value
        }
    }

    @Test("A reader who leaves says nothing about the standby")
    func leaving() async throws {
        try await Self.run { scene async throws in
            try await scene.read()
            scene.gate.close()
            let left = Task { try await scene.read() }
            try await poll("the standby is asked") { await scene.standby.underWayCount == 1 }
            left.cancel()
            await #expect(throws: PostgresError.self) { try await left.value }
            scene.gate.open()
            try await scene.read()
            #expect(scene.count("answered") == 2)
            #expect(scene.count("failed") == 0)
            #expect(scene.count("skipped") == 0)
        }
    }

    @Test("What is wrong with one statement, or how long it takes at the server, keeps no other from the standby")
    func statementErrors() async throws {
        try await Self.run(statementTimeout: .milliseconds(200)) { scene async throws in
            await #expect(throws: PostgresError.self) { try await scene.read("SELECT 1 / 0 AS number") }
            let error = await #expect(throws: PostgresError.self) {
                try await scene.read("SELECT pg_sleep(600) IS NULL AS is_over")
            }
            guard case .statementTimedOut(isAnswered: true) = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            #expect(scene.count("failed") == 2)
            // On a busy machine, this one may take too long as well.
            try await poll("the standby answers") {
                _ = try? await scene.read()
                return scene.count("answered") > 0
            }
            #expect(scene.count("skipped") == 0)
        }
    }
}
