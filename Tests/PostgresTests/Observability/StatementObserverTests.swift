import InMemoryTracing
import MetricsTestKit
import ServerProcesses
import Testing
import Tracing

@testable import Postgres

@Suite("Metrics and spans", .timeLimit(.minutes(1)))
struct StatementObserverTests {
    private func lookUpNumber(_ client: PostgresClient) async throws {
        _ = try await client.read("SELECT 1")
    }

    @Test("Each statement's time is recorded under its function's name, or the name given")
    func statementNames() async throws {
        let metrics = TestMetrics()
        try await withClient(adjust: { $0.metrics = metrics }) { client, _ in
            for _ in 0..<3 { try await lookUpNumber(client) }
            try await client.write("CREATE TABLE things (id int)", name: "make_things")
            _ = try await client.withTransaction {
                try await $0.execute("INSERT INTO things VALUES (1)", name: "add_thing")
            }
            for (name, count) in [
                ("lookUpNumber(_:)", 3), ("make_things", 1), ("BEGIN", 1), ("add_thing", 1), ("COMMIT", 1),
            ] {
                let timer = try metrics.expectTimer("postgres_statement_duration", [("statement", name)])
                #expect(timer.values.count == count, "\(name)")
                #expect(timer.values.allSatisfy { $0 > 0 })
            }
        }
    }

    @Test("Errors are counted by their kind")
    func errorKinds() async throws {
        let metrics = TestMetrics()
        try await withClient(adjust: { $0.metrics = metrics }) { client, _ in
            for _ in 0..<2 { _ = try? await client.read("SELECT no_such_column") }
            _ = try? await client.read("SELECT 1 / 0")
            let task = Task { try await client.read("SELECT pg_sleep(30)") }
            task.cancel()
            await #expect(throws: PostgresError.self) { try await task.value }
        }
        func count(_ kind: String) throws -> Int64 {
            try metrics.expectCounter("postgres_errors", [("class", kind)]).totalValue
        }
        #expect(try count("42") == 2)
        #expect(try count("22") == 1)
        #expect(try count("cancelled") == 1)
        try await withClient(url: "postgresql://nobody@127.0.0.1:1/none", adjust: { $0.metrics = metrics }) { client in
            _ = try? await client.read("SELECT 1")
        }
        #expect(try count("connection") == 1)
    }

    @Test("The number of connections and of waiting callers, and their waits, are recorded")
    func pool() async throws {
        let metrics = TestMetrics()
        try await withClient(maxConnections: 1, adjust: { $0.metrics = metrics }) { client, _ async throws in
            try await client.withConnection { connection in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 { group.addTask { _ = try await client.read("SELECT 1") } }
                    let waiting = try metrics.expectGauge("postgres_waiting")
                    try await poll("three wait") { waiting.values.contains(3) }
                    try await connection.query("SELECT 1")
                    group.cancelAll()
                    while await group.nextResult() != nil {}
                }
            }
            #expect(try await client.read("SELECT 1").count == 1)
            #expect(try metrics.expectGauge("postgres_connections").values.max() == 1)
            try await poll("nobody waits") { try metrics.expectGauge("postgres_waiting").values.last == 0 }
            #expect(try metrics.expectTimer("postgres_wait_duration").values.count >= 2)
        }
    }

    @Test("The connections of all event loops are counted together")
    func severalPools() async throws {
        let metrics = TestMetrics()
        try await withClient(maxConnections: 8, adjust: { $0.metrics = metrics }) { client, _ async throws in
            // Two pools of four lend three each.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        try await client.withConnection { _ async throws in
                            let connections = try metrics.expectGauge("postgres_connections")
                            try await poll("six are open") { connections.values.contains(6) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try metrics.expectGauge("postgres_connections").values.max() == 6)
        }
    }

    @Test("Each statement has a span, below the caller's, that says what went wrong and holds no value")
    func spans() async throws {
        let tracer = InMemoryTracer()
        try await withClient(adjust: { $0.tracer = tracer }) { client, _ async throws in
            await tracer.withSpan("caller") { _ in
                try? await lookUpNumber(client)
                _ = try? await client.read("SELECT \("a-secret")::int", name: "fails")
            }
        }
        let spans = tracer.finishedSpans
        let caller = try #require(spans.first { $0.operationName == "caller" })
        let success = try #require(spans.first { $0.operationName == "postgres lookUpNumber(_:)" })
        let failure = try #require(spans.first { $0.operationName == "postgres fails" })
        #expect(success.parentSpanID == caller.spanID && failure.parentSpanID == caller.spanID)
        #expect(success.kind == .client)
        #expect(success.status == nil)
        #expect(failure.status?.code == .error)
        #expect(failure.attributes["error.type"]?.toSpanAttribute() == "22")
        #expect(!"\(spans)".contains("a-secret"))
    }
}
