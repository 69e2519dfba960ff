import Dispatch
import Foundation
import ServerProcesses
import Synchronization
import Testing

@testable import Postgres

/// Swift's own executor has as many threads as the machine has cores.
///
/// A few tasks that compute for long keep all of them busy.
@Suite("While no task can run", .serialized, .timeLimit(.minutes(2)))
struct BusyExecutorTests {
    /// Threads that wait until they are let go.
    private final class HeldThreads: Sendable {
        private let held = DispatchSemaphore(value: 0)
        private let end = DispatchSemaphore(value: 0)
        /// The calling thread is one of the executor's, too.
        private let count = ProcessInfo.processInfo.activeProcessorCount - 1

        func hold() {
            for _ in 0..<count {
                Task.detached { [self] in wait() }
            }
            // If one does not come, all others are busy already.
            for _ in 0..<count { _ = held.wait(timeout: .now() + 5) }
        }

        private func wait() {
            held.signal()
            end.wait()
        }

        func letGo() {
            for _ in 0..<count { end.signal() }
        }
    }

    /// Runs a body on this thread, while tasks hold up all others of the executor.
    private static func withoutExecutor<Result>(_ body: () throws -> Result) rethrows -> Result {
        let threads = HeldThreads()
        threads.hold()
        defer { threads.letGo() }
        return try body()
    }

    /// Asks without a task.
    private static func ask(_ query: PostgresQuery, _ pool: ConnectionPool) throws -> PostgresRows {
        let isAnswered = DispatchSemaphore(value: 0)
        let answer = Mutex<Result<PostgresRows, PostgresError>?>(nil)
        pool.onEventLoop { pool in
            let statement = pool.sharedStatement(query, as: pool.makeID(), now: pool.now) { outcome in
                answer.withLock { $0 = outcome }
                isAnswered.signal()
            }
            pool.request(.statement, as: statement.id, waiter: .statement(statement), now: statement.start)
        }
        guard isAnswered.wait(timeout: .now() + 20) == .success, let answer = answer.withLock({ $0 }) else {
            throw NotInTime(what: "the answer")
        }
        return try answer.get()
    }

    @Test("A connection is opened, and a statement is answered")
    func connecting() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            let pool = client.pools[0]
            let rows = try Self.withoutExecutor { try Self.ask("SELECT 1 AS one", pool) }
            #expect(rows.count == 1)
        }
    }

    @Test("A statement that takes too long is cancelled, and its connection is used again")
    func cancelling() async throws {
        try await withClient(maxConnections: 1, adjust: { $0.statementTimeout = .milliseconds(100) }) { client, _ in
            let pool = client.pools[0]
            let processID: PostgresQuery = "SELECT pg_backend_pid() AS pid"
            let before = try await client.read(processID)[0].decode("pid", as: Int.self)
            let after = try Self.withoutExecutor {
                // The server must not end it by itself.
                _ = try Self.ask("SELECT set_config('statement_timeout', '0', false)", pool)
                #expect(throws: PostgresError.self) { try Self.ask("SELECT pg_sleep(60)", pool) }
                return try Self.ask(processID, pool)[0].decode("pid", as: Int.self)
            }
            #expect(after == before)
        }
    }

    @Test("A listener begins to listen")
    func listening() async throws {
        try await withClient { client, _ in
            let pool = client.pools[0]
            let isListening = try Self.withoutExecutor {
                let events = client.listen(to: "news")
                defer { _ = events }
                for _ in 0..<200 {
                    let rows = try Self.ask(
                        """
                        SELECT 1 AS one FROM pg_stat_activity
                        WHERE datname = current_database() AND query LIKE 'LISTEN%' AND state = 'idle'
                        """,
                        pool
                    )
                    if !rows.isEmpty { return true }
                    usleep(50_000)
                }
                return false
            }
            #expect(isListening)
        }
    }
}
