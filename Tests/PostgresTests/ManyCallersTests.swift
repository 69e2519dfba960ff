import DatabaseTestSupport
import ServerProcesses
import Testing

@testable import Postgres

@Suite("Statements of many callers on few connections", .timeLimit(.minutes(2)))
struct ManyCallersTests {
    /// Runs a statement that answers with its number, or fails for every seventh.
    private func ask(_ client: PostgresClient, _ number: Int) async throws {
        do throws(PostgresError) {
            let row = try await client.read("SELECT \(number) AS number, 1 / (\(number) % 7) AS seventh")[0]
            let answer: Int = try row.decode("number")
            #expect(answer == number && number % 7 != 0)
        } catch {
            #expect(number % 7 == 0)
            #expect(error.sqlState?.code == "22012")
        }
    }

    @Test("Each answer belongs to its own question, with statements that fail in between", arguments: [1, 3])
    func answers(maxConnections: Int) async throws {
        try await withClient(maxConnections: maxConnections) { client, url in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<16 {
                    group.addTask {
                        for number in 0..<250 { try await ask(client, worker * 1000 + number) }
                    }
                }
                try await group.waitForAll()
            }
            let sessions = try await Sessions.watching(url) { try await $0.count() }
            #expect((1...maxConnections).contains(sessions))
        }
    }

    @Test("An error that COMMIT brings to light is the statement's own, although its rows came before")
    func failureAtCommit() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            try await client.write("CREATE TABLE things (id int PRIMARY KEY)")
            try await client.write(
                "CREATE TABLE parts (thing int REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)"
            )
            let error = await #expect(throws: PostgresError.self) {
                try await client.read("INSERT INTO parts VALUES (9) RETURNING thing")
            }
            #expect(error?.sqlState == SQLState("23503"))
            #expect(try await client.read("SELECT * FROM parts").isEmpty)
        }
    }

    @Test("However many statements differ, at most 256 stay prepared, and those used last")
    func leastRecentlyUsed() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            for round in 0..<3 {
                for number in 0..<300 {
                    let often = try await client.read("SELECT 'often' AS word")[0].decode("word", as: String.self)
                    #expect(often == "often")
                    let query = PostgresQuery(stringLiteral: "SELECT \(number) AS number")
                    #expect(try await client.read(query)[0].decode("number", as: Int.self) == number, "round \(round)")
                }
            }
            let rows = try await client.read("SELECT statement, from_sql FROM pg_prepared_statements")
            #expect(rows.count <= 256)
            let texts = try rows.map { try $0.decode("statement", as: String.self) }
            #expect(texts.contains("SELECT 'often' AS word") && texts.contains("SELECT 299 AS number"))
            #expect(!texts.contains("SELECT 0 AS number"))
        }
    }

    @Test("Statements that many prepare at once, good and bad ones, all get their own answers")
    func preparingAtOnce() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            for round in 0..<20 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<12 {
                        group.addTask { () async throws in
                            if worker % 3 == 0 {
                                let bad = PostgresQuery(stringLiteral: "SELECT no_such_column_\(round)")
                                let error = await #expect(throws: PostgresError.self) { try await client.read(bad) }
                                #expect(error?.sqlState == .undefinedColumn)
                            } else {
                                let good = PostgresQuery(stringLiteral: "SELECT \(round) AS number")
                                let answer = try await client.read(good)[0].decode("number", as: Int.self)
                                #expect(answer == round)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test("Prepared statements that the server forgot are prepared again, and nobody notices")
    func forgottenStatements() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            for round in 0..<3 {
                #expect(try await client.read("SELECT 7 AS number")[0].decode("number", as: Int.self) == 7)
                try await client.withConnection { connection in
                    try await connection.execute(script: "DEALLOCATE ALL")
                    let row = try await connection.query("SELECT \(round) AS number")[0]
                    #expect(try row.decode("number", as: Int.self) == round)
                    try await connection.execute(script: "DEALLOCATE ALL")
                }
            }
        }
    }

    @Test("A table that changes under a prepared statement is noticed by nobody")
    func changedTable() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            try await client.write("CREATE TABLE things (id int)")
            try await client.write("INSERT INTO things VALUES (7)")
            for round in 0..<3 {
                #expect(try await client.read("SELECT * FROM things").count == 1)
                let change = "ALTER TABLE things ADD COLUMN c\(round) int DEFAULT \(round)"
                try await client.write(PostgresQuery(stringLiteral: change))
                let row = try await client.read("SELECT * FROM things")[0]
                #expect(try row.decode("c\(round)", as: Int.self) == round)
            }
        }
    }
}
