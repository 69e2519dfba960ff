import DatabaseTestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import Postgres

@Suite("Cancellation", .timeLimit(.minutes(2)))
struct CancellationTests {
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

    @Test("Who waits for the connection of a cancelled statement gets an answer all the same")
    func waiting() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await ClockedClient.run(url: url, adjust: { $0.pool.leaseTimeout = .seconds(60) }) {
                clocked async throws in
                try await Sessions.watching(url) { sessions async throws in
                    for _ in 0..<5 { try await cancelOne(of: clocked, sessions) }
                }
            }
        }
    }

    private func cancelOne(of clocked: ClockedClient, _ sessions: Sessions) async throws {
        let client = clocked.client
        let slow = Task { try await client.read("SELECT pg_sleep(600)") }
        try await clocked.waitUntilUnderWay(1)
        let others = (1...6).map { number in
            Task { try await client.read("SELECT \(number) AS number")[0].decode("number", as: Int.self) }
        }
        try await clocked.waitUntilWaiting(6)
        try await poll("it runs") { try await sessions.count(running: "SELECT pg_sleep") == 1 }
        slow.cancel()
        let error = await #expect(throws: PostgresError.self) { try await slow.value }
        guard case .cancelled = error else {
            Issue.record("\(String(reflecting: error))")
            return
        }
        // A cancellation that the server loses is sent again, later.
        let numbers = try await whilePassing({ await clocked.advance(by: .milliseconds(20)) }) {
            var numbers: [Int] = []
            for other in others { numbers.append(try await other.value) }
            return numbers
        }
        #expect(numbers == [1, 2, 3, 4, 5, 6])
    }

    @Test("While a cancellation is on its way, no other statement begins that it could hit", arguments: [false, true])
    func lateCancellation(isLeased: Bool) async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await Sessions.watching(url) { sessions async throws in
                try await HeldLock.holding(url) { lock async throws in
                    try await GatedServer.run(before: url, passes: .max) { gate in
                        try await ClockedClient.run(url: gate.url) { clocked async throws in
                            let late = LateCancellation(clocked: clocked, sessions: sessions, lock: lock, gate: gate)
                            if isLeased {
                                try await clocked.client.withConnection { connection in
                                    try await late.expectNothingHit { try await connection.query($0) }
                                }
                            } else {
                                try await late.expectNothingHit { try await clocked.client.read($0) }
                            }
                        }
                    }
                }
            }
        }
    }

    private struct LateCancellation {
        let clocked: ClockedClient
        let sessions: Sessions
        let lock: HeldLock
        let gate: GatedServer

        func expectNothingHit(_ run: @escaping @Sendable (PostgresQuery) async throws -> PostgresRows) async throws {
            let (client, cancelled) = (clocked.client, Task { try await run(HeldLock.wait) })
            try await poll("it waits") { try await sessions.countWaiting() == 1 }
            let next = Task { try await run("SELECT 1 AS one").count }
            try await poll("the next one waits") { await client.backlogCount + client.waiterCount == 1 }
            gate.close()
            cancelled.cancel()
            await #expect(throws: PostgresError.self) { try await cancelled.value }
            await clocked.advance(by: .milliseconds(20))
            try await poll("the request is on its way") { gate.heldCount == 1 }
            try await lock.release()
            try await clocked.waitUntilUnderWay(0)
            await clocked.advance(by: .milliseconds(1))
            #expect(await client.underWayCount == 0)
            gate.open()
            #expect(try await next.value == 1)
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
