import ConnectionTestSupport
import DatabaseTestSupport
import Glibc
import Postgres
import ServerProcesses
import Testing

/// The limits of the database's client, each once in real time.
@Suite("Waits for the database in real time", .serialized, .timeLimit(.minutes(5)))
struct DatabaseWaitTests {
    private func withClient(
        maxConnections: Int = 1,
        _ body: (PostgresClient, String) async throws -> Void
    ) async throws {
        try await TestCluster.withEmptyDatabase { url in
            let configuration = try PostgresConfiguration(url: url, maxConnections: maxConnections)
            try await PostgresClient.withClient(configuration: configuration) { try await body($0, url) }
        }
    }

    private func time(_ body: () async throws -> Void) async throws -> Duration {
        let start = ContinuousClock.now
        try await body()
        return ContinuousClock.now - start
    }

    @Test("A caller without a connection is refused after two seconds")
    func leaseTimeout() async throws {
        try await withClient { client, _ in
            try await client.withConnection { _ in
                let duration = try await time { () async throws in
                    let error = await #expect(throws: PostgresError.self) { try await client.read("SELECT 1") }
                    guard case .leaseTimedOut = error else {
                        Issue.record("\(String(reflecting: error))")
                        return
                    }
                }
                #expect(duration >= .milliseconds(1_990) && duration < .seconds(10))
            }
        }
    }

    @Test("A flood of writes that wait for a lock keeps no reader out")
    func flood() async throws {
        try await withClient(maxConnections: 4) { client, url async throws in
            try await client.write("CREATE TABLE things (id int)")
            try await client.write("INSERT INTO things VALUES (1)")
            try await TestCluster.withClient(url) { other async throws in
                try await other.withTransaction { connection async throws in
                    try await connection.query("SELECT id FROM things FOR UPDATE")
                    try await withThrowingTaskGroup(of: Void.self) { writes async throws in
                        for _ in 0..<200 {
                            writes.addTask { _ = try? await client.write("UPDATE things SET id = id + 1") }
                        }
                        // Longer than any of them waits.
                        let end = ContinuousClock.now + .seconds(5)
                        var readCount = 0
                        while ContinuousClock.now < end {
                            let rows = try await client.read("SELECT id FROM things")
                            #expect(rows.count == 1)
                            readCount += 1
                        }
                        #expect(readCount > 50)
                        writes.cancelAll()
                    }
                }
            }
        }
    }

    @Test("A statement is cancelled at the server after two and a half seconds")
    func statementTimeout() async throws {
        try await withClient { client, _ in
            let duration = try await time { () async throws in
                let error = await #expect(throws: PostgresError.self) { try await client.read("SELECT pg_sleep(60)") }
                guard case .statementTimedOut = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
            }
            #expect(duration >= .milliseconds(2_490) && duration < .seconds(10))
            #expect(try await client.read("SELECT 1").count == 1)
        }
    }

    @Test("Callers of a silent server get an error in three seconds, and another connection replaces it")
    func silence() async throws {
        try await withClient { client, _ in
            let frozen: Int = try await client.read("SELECT pg_backend_pid() AS pid")[0].decode("pid")
            kill(pid_t(frozen), SIGSTOP)
            defer { kill(pid_t(frozen), SIGCONT) }
            let duration = try await time { () async throws in
                let error = await #expect(throws: PostgresError.self) { try await client.read("SELECT 1") }
                #expect(error?.isUnavailable == true)
            }
            #expect(duration >= .milliseconds(2_990) && duration < .seconds(10))
            try await poll("another one serves", within: .seconds(20)) {
                (try? await client.read("SELECT 1")) != nil
            }
        }
    }

    @Test("A server that takes connections and never answers is given up in time", arguments: ["prefer", "disable"])
    func silentServer(sslMode: String) async throws {
        let server = try SilentServer()
        let url = "postgresql://nobody@127.0.0.1:\(server.port)/none?sslmode=\(sslMode)"
        var configuration = try PostgresConfiguration(url: url, maxConnections: 1)
        configuration.pool.leaseTimeout = .seconds(60)
        try await PostgresClient.withClient(configuration: configuration) { client in
            let duration = try await time { () async throws in
                let error = await #expect(throws: PostgresError.self) { try await client.read("SELECT 1") }
                guard case .cannotConnect = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
            }
            #expect(duration < .seconds(20))
        }
    }
}
