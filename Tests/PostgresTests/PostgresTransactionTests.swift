import ServerProcesses
import Testing

@testable import Postgres

@Suite("Transactions")
struct PostgresTransactionTests {
    private struct Interruption: Error {}

    private func withTable(
        _ body: (PostgresClient, String) async throws -> Void
    ) async throws {
        try await withClient(maxConnections: 1) { client, url in
            try await client.write("CREATE TABLE things (id int UNIQUE)")
            try await body(client, url)
        }
    }

    private func count(_ client: PostgresClient) async throws -> Int {
        try await client.read("SELECT count(*) AS count FROM things")[0].decode("count")
    }

    @Test("What the body does is committed, and its result returned")
    func commit() async throws {
        try await withTable { client, url async throws in
            let result = try await client.withTransaction { connection in
                try await connection.execute("INSERT INTO things VALUES (1)")
                return "done"
            }
            #expect(result == "done")
            #expect(try await withClient(url: url) { try await count($0) } == 1)
        }
    }

    @Test("An error that the body throws rolls everything back and comes out as it is")
    func thrownError() async throws {
        try await withTable { client, _ async throws in
            func processID() async throws -> Int {
                try await client.read("SELECT pg_backend_pid() AS pid")[0].decode("pid")
            }
            let before = try await processID()
            await #expect(throws: Interruption.self) {
                try await client.withTransaction { connection in
                    try await connection.execute("INSERT INTO things VALUES (1)")
                    throw Interruption()
                }
            }
            #expect(try await count(client) == 0)
            // A connection that was only dropped would have rolled back, too.
            #expect(try await processID() == before)
        }
    }

    @Test("A statement that fails rolls everything back")
    func failedStatement() async throws {
        try await withTable { client, _ async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try await connection.execute("INSERT INTO things VALUES (1)")
                    try await connection.execute("INSERT INTO things VALUES (1)")
                }
            }
            #expect(error?.sqlState == .uniqueViolation)
            #expect(try await count(client) == 0)
        }
    }

    @Test("A body that hides a failed statement gets an error: nothing was committed")
    func hiddenFailure() async throws {
        try await withTable { client, _ async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try await connection.execute("INSERT INTO things VALUES (1)")
                    _ = try? await connection.query("SELECT no_such_column")
                }
            }
            #expect(error?.sqlState == .inFailedTransaction)
            #expect(try await count(client) == 0)
        }
    }

    @Test("A constraint that is checked at COMMIT rolls everything back")
    func failedCommit() async throws {
        try await withTable { client, _ async throws in
            try await client.write(
                "CREATE TABLE parts (thing int REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)"
            )
            let error = await #expect(throws: PostgresTransactionError.self) {
                try await client.withTransaction { try await $0.execute("INSERT INTO parts VALUES (9)") }
            }
            guard case .commit(let cause) = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            #expect(cause.sqlState == SQLState("23503"))
            #expect(try await client.read("SELECT * FROM parts").isEmpty)
        }
    }

    @Test("A connection that can't roll back is never handed on")
    func failedRollback() async throws {
        try await withTable { client, url async throws in
            try await Sessions.watching(url) { sessions async throws in
                await #expect(throws: Interruption.self) {
                    try await client.withTransaction { connection in
                        try await connection.execute("INSERT INTO things VALUES (1)")
                        #expect(try await sessions.terminate(running: "INSERT") == 1)
                        throw Interruption()
                    }
                }
                #expect(try await count(client) == 0)
                #expect(try await sessions.count() == 1)
            }
        }
    }

    @Test("A connection that comes back with an open transaction is closed, which rolls back")
    func forgottenTransaction() async throws {
        try await withTable { client, url async throws in
            try await client.withConnection { connection in
                try await connection.query("BEGIN")
                try await connection.execute("INSERT INTO things VALUES (1)")
            }
            #expect(try await count(client) == 0)
            try await Sessions.watching(url) { sessions async throws in
                try await poll("it is closed") { try await sessions.count() == 1 }
            }
        }
    }

    @Test("A cancelled task's transaction is rolled back and its connection is clean")
    func cancelled() async throws {
        try await withTable { client, _ async throws in
            let (insertion, inserted) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await client.withTransaction { connection in
                    try await connection.execute("INSERT INTO things VALUES (1)")
                    inserted.yield()
                    try await Task.sleep(for: .seconds(600))
                }
            }
            var insertions = insertion.makeAsyncIterator()
            await insertions.next(isolation: #isolation)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await count(client) == 0)
        }
    }
}
