import Glibc
import Testing

@testable import Postgres

@Suite("A server that falls silent", .timeLimit(.minutes(2)))
struct SilentServerTests {
    @Test("Callers are told in bounded time, and another connection takes the silent one's place")
    func silence() async throws {
        try await withClient(connectionsMax: 1, adjust: { $0.statementTimeout = .seconds(2) }) { client, _ in
            let frozen: Int = try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid")
            kill(pid_t(frozen), SIGSTOP)
            defer { kill(pid_t(frozen), SIGCONT) }
            let start = ContinuousClock.now
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
            #expect(ContinuousClock.now - start < .seconds(20))
            guard case .statementTimedOut = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            let next: Int = try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid")
            #expect(next != frozen)
        }
    }

    @Test("So are those whose statements were on their way behind another's")
    func silenceForMany() async throws {
        try await withClient(connectionsMax: 1, adjust: { $0.statementTimeout = .seconds(2) }) { client, _ in
            let frozen: Int = try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid")
            kill(pid_t(frozen), SIGSTOP)
            defer { kill(pid_t(frozen), SIGCONT) }
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        do throws(PostgresError) {
                            _ = try await client.query("SELECT 1")
                            return true
                        } catch {
                            #expect(error.isUnavailable, "\(String(reflecting: error))")
                            return false
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            // Those that waited meanwhile are served by the connection that comes next.
            #expect(outcomes.contains(false) && outcomes.contains(true))
        }
    }

    @Test("A cancelled task is let go at once, however silent the server is")
    func cancelled() async throws {
        try await withClient(connectionsMax: 1) { client, _ in
            let frozen: Int = try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid")
            kill(pid_t(frozen), SIGSTOP)
            defer { kill(pid_t(frozen), SIGCONT) }
            let task = Task { try await client.query("SELECT 1") }
            try await Task.sleep(for: .milliseconds(100))
            task.cancel()
            await #expect(throws: PostgresError.self) { try await task.value }
            let next: Int = try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid")
            #expect(next != frozen)
        }
    }
}
