import DatabaseTestSupport
import Testing

@testable import Postgres

@Suite("A server that falls silent", .timeLimit(.minutes(2)))
struct SilentServerTests {
    /// Runs a body with a client of one connection, which has fallen silent, and with the server's process behind it.
    private func withFrozenServer(_ body: (ClockedClient, Int) async throws -> Void) async throws {
        try await GatedServer.run(before: try await TestCluster.scratchDatabase(), passes: .max) {
            server async throws in
            try await ClockedClient.run(
                url: server.url,
                adjust: { configuration in
                    configuration.statementTimeout = .milliseconds(2_500)
                    (configuration.pool.leaseTimeout, configuration.pool.slowness) = (.seconds(60), .seconds(60))
                }
            ) { clocked in
                let frozen = try await processID(clocked.client)
                server.freeze()
                try await body(clocked, frozen)
            }
        }
    }

    private func processID(_ client: PostgresClient) async throws -> Int {
        try await client.read("SELECT pg_backend_pid() AS pid")[0].decode("pid")
    }

    @Test("Callers get an error half a second after their time, and another connection replaces the silent one")
    func silence() async throws {
        try await withFrozenServer { clocked, frozen in
            let task = Task { try await clocked.client.read("SELECT 1") }
            try await clocked.waitUntilUnderWay(1)
            await clocked.advance(by: .milliseconds(2_999))
            #expect(await clocked.client.headIsAbandoned == false)
            await clocked.advance(by: .milliseconds(1))
            #expect(await clocked.client.headIsAbandoned == true)
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            guard case .statementTimedOut(isAnswered: false) = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            let next = Task { try await processID(clocked.client) }
            try await clocked.waitUntilWaiting(1)
            // For two seconds the server is asked to cancel the statement.
            await clocked.advance(by: .milliseconds(1_999))
            #expect(await clocked.client.headIsAbandoned == true)
            await clocked.advance(by: .milliseconds(1))
            #expect(try await next.value != frozen)
        }
    }

    @Test("So do those whose statements were sent behind another; waiting callers get the next connection")
    func silenceForMany() async throws {
        try await withFrozenServer { clocked, frozen in
            let tasks = (0..<20).map { _ in Task { try await processID(clocked.client) } }
            try await clocked.waitUntilUnderWay(16)
            try await clocked.waitUntilWaiting(4)
            await clocked.advance(by: .seconds(5))
            var (served, timedOut) = (0, 0)
            for task in tasks {
                switch await task.result {
                case .success(let processID):
                    #expect(processID != frozen)
                    served += 1
                case .failure(PostgresError.statementTimedOut): timedOut += 1
                case .failure(let error): Issue.record("\(String(reflecting: error))")
                }
            }
            #expect(timedOut == 16 && served == 4)
        }
    }

    @Test("A cancelled task is let go at once, however silent the server is")
    func cancelled() async throws {
        try await withFrozenServer { clocked, frozen in
            let task = Task { try await clocked.client.read("SELECT 1") }
            try await clocked.waitUntilUnderWay(1)
            task.cancel()
            let error = await #expect(throws: PostgresError.self) { try await task.value }
            guard case .cancelled = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            let next = Task { try await processID(clocked.client) }
            try await clocked.waitUntilWaiting(1)
            await clocked.advance(by: .milliseconds(2_020))
            #expect(try await next.value != frozen)
        }
    }
}

extension PostgresClient {
    /// Whether the running statement's caller has given up; nil when none runs.
    fileprivate var headIsAbandoned: Bool? {
        get async {
            for pool in pools {
                if let isAbandoned = await pool.headIsAbandoned { return isAbandoned }
            }
            return nil
        }
    }
}

extension ConnectionPool {
    fileprivate var headIsAbandoned: Bool? {
        members.all.lazy.compactMap { $0.connection.pipeline.head?.isAbandoned }.first
    }
}
