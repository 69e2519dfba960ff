import DatabaseTestSupport
import TestSupport
import Testing

@testable import Postgres

/// Where nothing else happens that would have a pool look after its connections.
@Suite("A pool with one caller", .timeLimit(.minutes(2)))
struct QuietPoolTests {
    @Test("A cancelled statement ends at the server, though it has no time limit and nobody comes after it")
    func cancellation() async throws {
        try await withClient(connectionsMax: 1, adjust: { $0.statementTimeout = nil }) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                let task = Task { try await client.query("SELECT pg_sleep(60)") }
                #expect(try await eventually { try await sessions.count(running: "SELECT pg_sleep") == 1 })
                task.cancel()
                _ = await task.result
                #expect(try await eventually { try await sessions.count(running: "SELECT pg_sleep") == 0 })
            }
        }
    }

    @Test("A script that comes while a statement of its lease is under way runs after it")
    func script() async throws {
        try await withClient(connectionsMax: 1) { client, _ async throws in
            try await client.withConnection { connection in
                async let rows = connection.query("SELECT pg_sleep(0.2)")
                try await Task.sleep(for: .milliseconds(50))
                try await connection.execute(script: "CREATE TABLE things (id int); INSERT INTO things VALUES (1)")
                _ = try await rows
            }
            #expect(try await client.query("SELECT id FROM things").count == 1)
        }
    }

    @Test("A table that changes while statements share a connection is read as it is now")
    func changedTable() async throws {
        try await withClient(connectionsMax: 1, adjust: { $0.pool.slowness = .seconds(20) }) { client, url in
            try await client.execute("CREATE TABLE things (id int)")
            for _ in 0..<2 { _ = try await client.query("SELECT * FROM things") }
            try await withClient(url: url) { _ = try await $0.execute("ALTER TABLE things ADD COLUMN extra int") }
            // One before and one behind, each on its way in a batch of its own.
            async let before = client.query("SELECT pg_sleep(0.3)")
            try await Task.sleep(for: .milliseconds(100))
            async let rows = client.query("SELECT * FROM things")
            try await Task.sleep(for: .milliseconds(100))
            async let behind = client.query("SELECT pg_sleep(0.5)")
            #expect(try await rows.isEmpty)
            _ = try await (before, behind)
        }
    }

    @Test("A transaction that someone begins on a shared connection is not handed on")
    func sharedTransaction() async throws {
        try await withClient(connectionsMax: 1) { client, _ async throws in
            _ = try await client.query("BEGIN")
            let times = try await [
                client.query("SELECT now()::text AS time")[0].decode("time", as: String.self),
                client.query("SELECT now()::text AS time")[0].decode("time", as: String.self),
            ]
            #expect(Set(times).count == 2)
        }
    }

    @Test("A transaction whose statement was cancelled is no success, whatever its body made of that")
    func cancelledInTransaction() async throws {
        try await withClient(connectionsMax: 1) { client, _ async throws in
            try await client.execute("CREATE TABLE things (id int)")
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try await connection.execute("INSERT INTO things VALUES (1)")
                    let child = Task { try await connection.query("SELECT pg_sleep(60)") }
                    try await Task.sleep(for: .milliseconds(100))
                    child.cancel()
                    _ = await child.result
                }
            }
            #expect(error?.sqlState == .inFailedTransaction)
            #expect(try await client.query("SELECT * FROM things").isEmpty)
        }
    }

    @Test("Clients that go while they connect leave no session behind")
    func goneWhileConnecting() async throws {
        try await TestCluster.withEmptyDatabase { url in
            for _ in 0..<20 {
                let client = PostgresClient(configuration: try .patient(url: url, connectionsMax: 1))
                let task = Task { try await client.query("SELECT 1") }
                try await Task.sleep(for: .milliseconds(1))
                task.cancel()
                _ = await task.result
            }
            try await Sessions.watching(url) { sessions async throws in
                // Those that are just being opened appear first.
                try await Task.sleep(for: .seconds(1))
                #expect(try await eventually { try await sessions.count() == 0 })
            }
        }
    }

    @Test("A statement that outlives its lease and its client is answered")
    func outlived() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let task = try await statementWithoutClient(url)
            await #expect(throws: PostgresError.self) { try await task.value }
        }
    }

    private func statementWithoutClient(_ url: String) async throws -> Task<Void, any Error> {
        let client = PostgresClient(configuration: try .patient(url: url, connectionsMax: 1))
        return try await client.withConnection { connection in
            let task = Task { _ = try await connection.query("SELECT pg_sleep(60)") }
            try await Task.sleep(for: .milliseconds(100))
            return task
        }
    }
}
