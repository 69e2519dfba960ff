import DatabaseTestSupport
import Dispatch
import Foundation
import ServerProcesses
import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// For each priority, Swift's own executor has as many threads as the machine has cores.
///
/// A few tasks that compute for long keep all of them busy. Then no other task runs.
@Suite("While no task can run", .timeLimit(.minutes(2)))
struct BusyExecutorTests {
    /// The executor's threads, which wait until they are let go.
    private final class HeldThreads: Sendable {
        private let held = DispatchSemaphore(value: 0)
        private let end = DispatchSemaphore(value: 0)
        private let count = ProcessInfo.processInfo.activeProcessorCount

        func hold() throws {
            for _ in 0..<count {
                Task.detached(priority: .medium) { [self] in wait() }
            }
            for _ in 0..<count {
                guard held.wait(timeout: .now() + 20) == .success else {
                    throw NotInTime(what: "a thread of the executor")
                }
            }
            let hasRun = DispatchSemaphore(value: 0)
            Task.detached(priority: .medium) { hasRun.signal() }
            #expect(hasRun.wait(timeout: .now() + 0.1) == .timedOut)
        }

        private func wait() {
            held.signal()
            end.wait()
        }

        func letGo() {
            for _ in 0..<count { end.signal() }
        }
    }

    /// Runs a body on a thread of its own, while all threads of the executor are held.
    private static func withoutExecutor(
        _ url: String,
        statementTimeout: Duration = .seconds(20),
        _ body: @escaping @Sendable (PostgresClient) throws -> Void
    ) async throws {
        let adjust: (inout PostgresConfiguration) -> Void = { $0.statementTimeout = statementTimeout }
        try await withClient(url: url, maxConnections: 1, adjust: adjust) { client in
            try await Task(executorPreference: DedicatedThreads()) {
                let threads = HeldThreads()
                defer { threads.letGo() }
                try threads.hold()
                try body(client)
            }.value
        }
    }

    /// Asks without a task.
    private static func ask(_ client: PostgresClient, _ query: PostgresQuery) throws -> PostgresRows {
        let isAnswered = DispatchSemaphore(value: 0)
        let answer = Mutex<Result<PostgresRows, PostgresError>?>(nil)
        client.pools[0].onEventLoop { pool in
            let statement = pool.sharedStatement(query, as: pool.makeID(), now: pool.now) { outcome in
                answer.withLock { $0 = outcome }
                isAnswered.signal()
            }
            pool.request(.statement, as: statement.id, waiter: .statement(statement), now: statement.start)
        }
        guard isAnswered.wait(timeout: .now() + 30) == .success, let answer = answer.withLock({ $0 }) else {
            throw NotInTime(what: "the answer")
        }
        return try answer.get()
    }

    private static func connect(_ client: PostgresClient) throws {
        let rows = try ask(client, "SELECT 1 AS one")
        #expect(rows.count == 1)
    }

    private static let processID: PostgresQuery = "SELECT pg_backend_pid() AS pid"

    /// A statement without a caller is cancelled, and its connection is used again.
    private static func cancel(_ client: PostgresClient) throws {
        let before = try ask(client, processID)[0].decode("pid", as: Int.self)
        // The server must not end it by itself.
        _ = try ask(client, "SELECT set_config('statement_timeout', '0', false)")
        let error = #expect(throws: PostgresError.self) { try ask(client, "SELECT pg_sleep(60)") }
        guard case .statementTimedOut(isAnswered: false) = error else {
            Issue.record("\(String(reflecting: error))")
            return
        }
        let after = try ask(client, processID)[0].decode("pid", as: Int.self)
        #expect(after == before)
    }

    private static func listen(_ client: PostgresClient) throws {
        let isListening: PostgresQuery = """
            SELECT 1 AS one FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE 'LISTEN%' AND state = 'idle'
            """
        try withExtendedLifetime(client.listen(to: "news")) {
            for _ in 0..<200 {
                if try !ask(client, isListening).isEmpty { return }
                usleep(50_000)
            }
            throw NotInTime(what: "a listener")
        }
    }

    @Test("Connections are opened, statements are cancelled, and listeners begin to listen", .onDedicatedThreads)
    func all() async throws {
        try await TestCluster.withEmptyDatabase { (url) async throws -> Void in
            // In a process of its own, since all others of this one would have to wait.
            await #expect(processExitsWith: .success) { [url = url as String] in
                do {
                    try await Self.withoutExecutor(url) { try Self.connect($0) }
                    try await Self.withoutExecutor(url, statementTimeout: .seconds(1)) { try Self.cancel($0) }
                    try await Self.withoutExecutor(url) { try Self.listen($0) }
                } catch {
                    Issue.record(error)
                }
            }
        }
    }
}
