import DatabaseTestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import Postgres

@Suite("Cancellation", .timeLimit(.minutes(2)))
struct CancelledStatementTests {
    @Test("A cancelled task's statement ends at the server too, and its connection is used again")
    func atTheServer() async throws {
        try await withClient(maxConnections: 1) { client, url in
            let before = try await client.read("SELECT pg_backend_pid() AS pid")[0].decode("pid", as: Int.self)
            try await Sessions.watching(url) { sessions async throws in
                let task = Task { try await client.read("SELECT pg_sleep(600)") }
                try await poll("it runs") { try await sessions.count(running: "SELECT pg_sleep") == 1 }
                task.cancel()
                let error = await #expect(throws: PostgresError.self) { try await task.value }
                guard case .cancelled = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
                let after = try await client.read("SELECT pg_backend_pid() AS pid")[0].decode("pid", as: Int.self)
                #expect(after == before)
                #expect(try await sessions.count(running: "SELECT pg_sleep") == 0)
            }
        }
    }

    @Test("So does one on a leased connection, which is lent on clean")
    func onALease() async throws {
        try await withClient(maxConnections: 1) { client, url in
            try await client.write("CREATE TABLE things (id int)")
            try await Sessions.watching(url) { sessions async throws in
                let task = Task {
                    try await client.withTransaction { connection in
                        try await connection.execute("INSERT INTO things VALUES (1)")
                        try await connection.query("SELECT pg_sleep(600)")
                    }
                }
                try await poll("it runs") { try await sessions.count(running: "SELECT pg_sleep") == 1 }
                task.cancel()
                await #expect(throws: (any Error).self) { try await task.value }
                #expect(try await client.read("SELECT * FROM things").isEmpty)
                #expect(try await sessions.count(running: "SELECT pg_sleep") == 0)
                #expect(try await sessions.countInTransaction() == 0)
            }
        }
    }

    @Test(
        "Statements that share a connection or a batch with a cancelled one get their answers",
        arguments: [false, true]
    )
    func neighbours(sharesBatch: Bool) async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await ClockedClient.run(url: url, adjust: { $0.pool.leaseTimeout = .seconds(60) }) {
                clocked async throws in
                try await Sessions.watching(url) { sessions async throws in
                    for _ in 0..<5 { try await cancelOne(of: clocked, sessions, sharesBatch: sharesBatch) }
                }
            }
        }
    }

    private func cancelOne(of clocked: ClockedClient, _ sessions: Sessions, sharesBatch: Bool) async throws {
        let client = clocked.client
        func start() async throws -> (slow: Task<PostgresRows, any Error>, neighbours: [Task<Int, any Error>]) {
            let slow = Task { try await client.read("SELECT pg_sleep(600)") }
            try await poll("it was sent, or waits") { await client.underWayCount + client.waiterCount == 1 }
            let neighbours = (1...6).map { number in
                Task { try await client.read("SELECT \(number) AS number")[0].decode("number", as: Int.self) }
            }
            try await poll("all came") { await client.underWayCount + client.waiterCount == 7 }
            return (slow, neighbours)
        }
        // Those that wait for a connection are sent together when it comes back.
        let (slow, neighbours) =
            if sharesBatch { try await client.withConnection { _ in try await start() } } else { try await start() }
        try await poll("it runs") { try await sessions.count(running: "SELECT pg_sleep") == 1 }
        slow.cancel()
        let error = await #expect(throws: PostgresError.self) { try await slow.value }
        guard case .cancelled = error else {
            Issue.record("\(String(reflecting: error))")
            return
        }
        // A cancellation that the server loses is sent again, later.
        // Slowly: on a busy machine, the server needs some real time for its answers.
        let numbers = try await whilePassing({ await clocked.advance(by: .milliseconds(5)) }) {
            var numbers: [Int] = []
            for neighbour in neighbours { numbers.append(try await neighbour.value) }
            return numbers
        }
        #expect(numbers == [1, 2, 3, 4, 5, 6])
    }

    @Test("A statement hit by the cancellation of another is run again, without an error")
    func wrongOneHit() async throws {
        try await withTries { clocked, late in
            let cancelled = Task { try await clocked.client.read(LateCancellation.first) }
            try await late.awaitFirst()
            let hit = Task { try await clocked.client.read(LateCancellation.second).count }
            try await late.cancel(cancelled, of: clocked)
            try await poll("it runs again") { try await late.tryCount() == 2 }
            try await late.secondLock.release()
            #expect(try await hit.value == 1)
        }
    }

    @Test("One of a lease is not, since it may depend on earlier statements")
    func wrongOneHitOnALease() async throws {
        try await withTries { clocked, late in
            try await clocked.client.withConnection { connection in
                // Outside a transaction, none would be cancelled.
                try await connection.query("BEGIN")
                let cancelled = Task { try await connection.query(LateCancellation.first) }
                try await late.awaitFirst()
                let hit = Task { try await connection.query(LateCancellation.second).count }
                try await late.cancel(cancelled, of: clocked)
                try await clocked.waitUntilUnderWay(0)
                #expect(await clocked.client.waiterCount == 0)
                hit.cancel()
                await #expect(throws: PostgresError.self) { try await hit.value }
            }
            try await late.secondLock.release()
            #expect(try await late.tryCount() == 1)
        }
    }

    /// Runs a body with a client of one connection, and with what makes its cancellations come late.
    private func withTries(_ body: (ClockedClient, LateCancellation) async throws -> Void) async throws {
        try await withClient(maxConnections: 1) { other, url async throws in
            try await other.write("CREATE SEQUENCE tries")
            try await Sessions.watching(url) { sessions async throws in
                try await HeldLock.holding(url, number: 1) { firstLock async throws in
                    try await HeldLock.holding(url, number: 2) { secondLock async throws in
                        try await GatedServer.run(before: url, passes: .max) { gate in
                            let late = LateCancellation(
                                client: other,
                                sessions: sessions,
                                firstLock: firstLock,
                                secondLock: secondLock,
                                gate: gate
                            )
                            try await ClockedClient.run(url: gate.url) { try await body($0, late) }
                        }
                    }
                }
            }
        }
    }

    private struct LateCancellation {
        static let first = HeldLock.wait
        /// A statement that counts itself, and then waits for the second lock.
        static let second: PostgresQuery = "SELECT nextval('tries'), pg_advisory_xact_lock_shared(2)"

        let client: PostgresClient
        let sessions: Sessions
        let firstLock: HeldLock
        let secondLock: HeldLock
        let gate: GatedServer

        /// How often the second statement has begun.
        func tryCount() async throws -> Int {
            try await client.read("SELECT last_value + is_called::int AS next FROM tries")[0].decode("next") - 1
        }

        /// Waits until the server is at the first statement, and nothing else is on its way.
        func awaitFirst() async throws {
            try await poll("the first one waits") { try await sessions.countWaiting() == 1 }
            gate.forgetPassed()
        }

        /// Cancels the first of two statements; the request reaches the server when that is at the second.
        func cancel(_ first: Task<PostgresRows, any Error>, of clocked: ClockedClient) async throws {
            try await clocked.waitUntilUnderWay(2)
            try await poll("the other one is past the gate") { gate.passedCount > 0 && gate.heldCount == 0 }
            gate.close()
            first.cancel()
            await #expect(throws: PostgresError.self) { try await first.value }
            await clocked.advance(by: .milliseconds(20))
            try await poll("the request is on its way") { gate.heldCount == 1 }
            try await firstLock.release()
            try await poll("the other one runs") { try await tryCount() == 1 }
            try await poll("it waits") { try await sessions.countWaiting() == 1 }
            gate.open()
        }
    }

    @Test("Statements of which many are cancelled at random: no wrong row, no lease lost, no transaction open")
    func atRandom() async throws {
        try await withClient(maxConnections: 4) { client, url in
            try await client.write("CREATE TABLE things (id int)")
            let cancelled = Counter()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<20 {
                    group.addTask {
                        var generator = SplitMix64(seed: UInt64(worker))
                        for round in 0..<50 {
                            let isAnswered = try await RandomCancellation.run(
                                worker * 1000 + round,
                                on: client,
                                slow: {
                                    "SELECT \($0) AS id, (SELECT count(*) FROM generate_series(1, 1000))"
                                },
                                using: &generator
                            )
                            if !isAnswered { cancelled.count() }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(cancelled.value > 0 && cancelled.value < 1_000)
            try await expectAllLent(of: client, count: 3)
            #expect(try await client.read("SELECT * FROM things").isEmpty)
            try await Sessions.watching(url) { sessions async throws in
                #expect(try await sessions.count() <= 4)
                try await poll("no transaction is open") { try await sessions.countInTransaction() == 0 }
            }
        }
    }

    /// As many connections as are ever lent can be lent at once, so none was lost.
    private func expectAllLent(of client: PostgresClient, count: Int) async throws {
        let meeting = Meeting(of: count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await client.withConnection { connection in
                        await meeting.arrive()
                        try await connection.query("SELECT 1")
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
