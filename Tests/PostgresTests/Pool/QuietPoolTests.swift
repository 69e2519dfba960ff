import DatabaseTestSupport
import ServerProcesses
import Testing

@testable import Postgres

/// Where nothing else happens that would have a pool look after its connections.
@Suite("A pool with one caller", .timeLimit(.minutes(2)))
struct QuietPoolTests {
    @Test("A cancelled statement ends at the server, even without a time limit and without later statements")
    func cancellation() async throws {
        try await withClient(maxConnections: 1, adjust: { $0.statementTimeout = nil }) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                let task = Task { try await client.read("SELECT pg_sleep(600)") }
                try await poll("it runs") { try await sessions.count(running: "SELECT pg_sleep") == 1 }
                task.cancel()
                _ = await task.result
                try await poll("it has ended") { try await sessions.count(running: "SELECT pg_sleep") == 0 }
            }
        }
    }

    @Test(
        "A script sent while a statement of its lease runs starts after it; later statements run after both"
    )
    func script() async throws {
        try await withClient(maxConnections: 1) { client, url async throws in
            try await HeldLock.holding(url) { lock async throws in
                try await client.withConnection { connection in
                    let before = Task { try await connection.query(HeldLock.wait).count }
                    try await poll("it is under way") { await client.underWayCount == 1 }
                    let script = Task {
                        try await connection.execute(
                            script: "CREATE TABLE things (id int); INSERT INTO things VALUES (1)"
                        )
                    }
                    try await poll("the script waits for it") { await client.backlogCount == 1 }
                    let behind = Task { try await connection.query("SELECT id FROM things").count }
                    try await poll("so does what comes behind") { await client.backlogCount == 2 }
                    try await lock.release()
                    #expect(try await before.value == 1)
                    try await script.value
                    #expect(try await behind.value == 1)
                }
                #expect(try await client.read("SELECT id FROM things").count == 1)
            }
        }
    }

    @Test("A table that changes while statements share a connection is read as it is now")
    func changedTable() async throws {
        try await withClient(maxConnections: 1, adjust: { $0.pool.slowness = .seconds(600) }) { client, url in
            try await client.write("CREATE TABLE things (id int)")
            try await client.write("INSERT INTO things VALUES (7)")
            for _ in 0..<2 { _ = try await client.read("SELECT * FROM things") }
            try await HeldLock.holding(url) { lock async throws in
                // One before and one behind, each on its way in a batch of its own.
                let before = Task { try await client.read(HeldLock.wait).count }
                try await poll("one is under way") { await client.underWayCount == 1 }
                let rows = Task { try await client.read("SELECT * FROM things")[0].decode("extra", as: Int.self) }
                try await poll("two are under way") { await client.underWayCount == 2 }
                let behind = Task { try await client.read("SELECT 1").count }
                try await poll("three are under way") { await client.underWayCount == 3 }
                try await withClient(url: url) { other in
                    _ = try await other.write("ALTER TABLE things ADD COLUMN extra int NOT NULL DEFAULT 8")
                }
                try await lock.release()
                #expect(try await rows.value == 8)
                #expect(try await before.value == 1)
                #expect(try await behind.value == 1)
            }
        }
    }

    @Test("A transaction that someone begins on a shared connection is not handed on")
    func sharedTransaction() async throws {
        try await withClient(maxConnections: 1) { client, _ async throws in
            _ = try await client.read("BEGIN")
            let times = try await [
                client.read("SELECT now()::text AS time")[0].decode("time", as: String.self),
                client.read("SELECT now()::text AS time")[0].decode("time", as: String.self),
            ]
            #expect(Set(times).count == 2)
        }
    }

    @Test("A transaction with a cancelled statement fails, even if its body ignores the error")
    func cancelledInTransaction() async throws {
        try await withClient(maxConnections: 1) { client, url async throws in
            try await client.write("CREATE TABLE things (id int)")
            try await Sessions.watching(url) { sessions async throws in
                let error = await #expect(throws: PostgresError.self) {
                    try await client.withTransaction { connection in
                        try await connection.execute("INSERT INTO things VALUES (1)")
                        let child = Task { try await connection.query("SELECT pg_sleep(600)") }
                        try await poll("it runs") { try await sessions.count(running: "SELECT pg_sleep") == 1 }
                        child.cancel()
                        let outcome = await child.result
                        let isCancelled = if case .failure(PostgresError.cancelled) = outcome { true } else { false }
                        #expect(isCancelled)
                    }
                }
                #expect(error?.sqlState == .inFailedTransaction)
            }
            #expect(try await client.read("SELECT * FROM things").isEmpty)
        }
    }

    @Test("Clients that go while they connect leave no session behind")
    func goneWhileConnecting() async throws {
        try await GatedServer.run(before: try await TestCluster.scratchDatabase(), passes: 0) { server async throws in
            for _ in 0..<3 {
                let client = PostgresClient(configuration: try .patient(url: server.url, maxConnections: 1))
                let held = server.heldCount
                let task = Task { try await client.read("SELECT 1") }
                try await poll("it connects") { server.heldCount == held + 1 }
                task.cancel()
                _ = await task.result
            }
            server.open()
            try await poll("all connected, and all are closed") { server.connectionCounts == (3, 3) }
        }
    }

    @Test("A statement that outlives its lease and its client is answered")
    func outlived() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await Sessions.watching(url) { sessions async throws in
                let task = try await statementWithoutClient(url, sessions)
                await #expect(throws: PostgresError.self) { try await task.value }
            }
        }
    }

    private func statementWithoutClient(_ url: String, _ sessions: Sessions) async throws -> Task<Void, any Error> {
        let client = PostgresClient(configuration: try .patient(url: url, maxConnections: 1))
        return try await client.withConnection { connection in
            let task = Task { _ = try await connection.query("SELECT pg_sleep(600)") }
            try await poll("it runs") { try await sessions.count(running: "SELECT pg_sleep") == 1 }
            return task
        }
    }
}
