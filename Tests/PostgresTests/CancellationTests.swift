import TestSupport
import Testing

@testable import Postgres

@Suite("Cancellation", .timeLimit(.minutes(2)))
struct CancellationTests {
    @Test("A cancelled task's statement ends at the server too, and its connection is used again")
    func atTheServer() async throws {
        try await withClient(connectionsMax: 1) { client, url in
            let before = try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid", as: Int.self)
            try await Sessions.watching(url) { sessions async throws in
                let task = Task { try await client.query("SELECT pg_sleep(60)") }
                #expect(try await eventually { try await sessions.count(running: "SELECT pg_sleep") == 1 })
                task.cancel()
                let error = await #expect(throws: PostgresError.self) { try await task.value }
                guard case .cancelled = error else {
                    Issue.record("\(String(reflecting: error))")
                    return
                }
                let after = try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid", as: Int.self)
                #expect(after == before)
                #expect(try await sessions.count(running: "SELECT pg_sleep") == 0)
            }
        }
    }

    @Test("So does one on a leased connection, which is lent on clean")
    func onALease() async throws {
        try await withClient(connectionsMax: 1) { client, url in
            try await client.execute("CREATE TABLE things (id int)")
            try await Sessions.watching(url) { sessions async throws in
                let task = Task {
                    try await client.withTransaction { connection in
                        try await connection.execute("INSERT INTO things VALUES (1)")
                        try await connection.query("SELECT pg_sleep(60)")
                    }
                }
                #expect(try await eventually { try await sessions.count(running: "SELECT pg_sleep") == 1 })
                task.cancel()
                await #expect(throws: (any Error).self) { try await task.value }
                #expect(try await client.query("SELECT * FROM things").isEmpty)
                #expect(try await sessions.count(running: "SELECT pg_sleep") == 0)
                #expect(try await sessions.countInTransaction() == 0)
            }
        }
    }

    @Test("Who shares a connection with a cancelled statement gets an answer all the same")
    func neighbours() async throws {
        try await withClient(connectionsMax: 1, adjust: { $0.pool.pipelineDepth = 8 }) { client, _ in
            for _ in 0..<10 {
                let slow = Task { try await client.query("SELECT pg_sleep(60)") }
                let neighbours = (1...6).map { number in
                    Task { try await client.query("SELECT \(number) AS number")[0].decode("number", as: Int.self) }
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...40)))
                slow.cancel()
                for (index, neighbour) in neighbours.enumerated() {
                    #expect(try await neighbour.value == index + 1)
                }
                await #expect(throws: PostgresError.self) { try await slow.value }
            }
        }
    }

    @Test("Ten thousand statements, many of them cancelled at random: no wrong row, no lease lost, no transaction open")
    func atRandom() async throws {
        try await withClient(connectionsMax: 4) { client, url in
            try await client.execute("CREATE TABLE things (id int)")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<20 {
                    group.addTask {
                        var generator = SplitMix64(seed: UInt64(worker))
                        for round in 0..<500 {
                            try await Self.runOne(worker * 1000 + round, on: client, using: &generator)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await expectAllLent(of: client, count: 3)
            #expect(try await client.query("SELECT * FROM things").isEmpty)
            try await Sessions.watching(url) { sessions async throws in
                #expect(try await sessions.count() <= 4)
                #expect(try await eventually { try await sessions.countInTransaction() == 0 })
            }
        }
    }

    /// Runs a statement that is cancelled, or not, at whatever point it happens to be.
    private static func runOne(
        _ number: Int,
        on client: PostgresClient,
        using generator: inout SplitMix64
    ) async throws {
        let kind = Int.random(in: 0..<4, using: &generator)
        let task = Task { () -> Int in
            switch kind {
            case 0:
                try await client.withTransaction { connection in
                    try await connection.execute("INSERT INTO things VALUES (\(number))")
                    let row = try await connection.query("DELETE FROM things WHERE id = \(number) RETURNING id")[0]
                    return try row.decode("id")
                }
            case 1: try await client.withConnection { try await $0.query("SELECT \(number) AS id")[0].decode("id") }
            case 2: try await client.query("SELECT \(number) AS id, pg_sleep(0.001)")[0].decode("id")
            default: try await client.query("SELECT \(number) AS id")[0].decode("id")
            }
        }
        if Bool.random(using: &generator) {
            for _ in 0..<Int.random(in: 0..<20, using: &generator) { await Task.yield() }
            task.cancel()
        }
        switch await task.result {
        case .success(let answer): #expect(answer == number)
        case .failure(let error): #expect(task.isCancelled, "\(String(reflecting: error))")
        }
    }

    /// As many connections as are ever lent can be lent at once, so none was lost.
    private func expectAllLent(of client: PostgresClient, count: Int) async throws {
        let (lent, meeting) = (Counter(), Counter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await client.withConnection { connection in
                        lent.count()
                        if try await eventually({ lent.value == count }) { meeting.count() }
                        try await connection.query("SELECT 1")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(meeting.value == count)
    }
}
