import TestSupport
import Testing

@testable import Postgres

@Suite("Statements of many callers on few connections", .timeLimit(.minutes(2)))
struct PipeliningTests {
    /// Runs a statement that answers with its number, or fails for every seventh.
    private func ask(_ client: PostgresClient, _ number: Int) async throws {
        do throws(PostgresError) {
            let row = try await client.query("SELECT \(number) AS number, 1 / (\(number) % 7) AS seventh")[0]
            let answer: Int = try row.decode("number")
            #expect(answer == number && number % 7 != 0)
        } catch {
            #expect(number % 7 == 0)
            #expect(error.sqlState?.code == "22012")
        }
    }

    @Test("Each answer belongs to its own question, with statements that fail in between", arguments: [1, 3])
    func answers(connectionsMax: Int) async throws {
        try await withClient(connectionsMax: connectionsMax) { client, url in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<16 {
                    group.addTask {
                        for number in 0..<250 { try await ask(client, worker * 1000 + number) }
                    }
                }
                try await group.waitForAll()
            }
            let sessions = try await Sessions.watching(url) { try await $0.count() }
            #expect(sessions <= connectionsMax)
        }
    }

    @Test("What was undone because of a statement beside it is run again, and takes effect once")
    func effects() async throws {
        try await withClient(connectionsMax: 1) { client, _ in
            try await client.execute("CREATE TABLE things (id int)")
            let numbers = 0..<300
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in numbers {
                    group.addTask { () async throws in
                        do throws(PostgresError) {
                            _ = try await client.query(
                                "INSERT INTO things SELECT \(number) / (\(number) % 7) * 0 + \(number)"
                            )
                            #expect(number % 7 != 0)
                        } catch {
                            #expect(number % 7 == 0 && error.sqlState?.code == "22012")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let ids = try await client.query("SELECT id FROM things ORDER BY id").map {
                try $0.decode("id", as: Int.self)
            }
            #expect(ids == numbers.filter { $0 % 7 != 0 })
        }
    }

    @Test("Statements share a connection while they are quick, and are on their way at the same time")
    func sharing() async throws {
        try await withClient(connectionsMax: 1, adjust: { $0.pool.pipelineDepth = 8 }) { client, _ in
            let processIDs = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await client.query("SELECT pg_backend_pid() AS pid")[0].decode("pid") }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(processIDs.count == 1)
        }
    }

    @Test("A statement that turns out slow holds up nobody who comes later")
    func slowStatement() async throws {
        try await withClient(connectionsMax: 2) { client, url in
            try await Sessions.watching(url) { sessions async throws in
                let slow = Task { try await client.query("SELECT pg_sleep(60)") }
                #expect(try await eventually { try await sessions.count(running: "SELECT pg_sleep") == 1 })
                // Long enough for the statement to count as slow.
                try await Task.sleep(for: .milliseconds(50))
                for number in 1...20 { try await ask(client, number * 7 + 1) }
                #expect(try await sessions.count(running: "SELECT pg_sleep") == 1)
                slow.cancel()
                _ = await slow.result
            }
        }
    }

    @Test("Whose answer came just before the connection ended gets it")
    func answersBeforeTheEnd() async throws {
        try await withClient(connectionsMax: 1) { client, _ in
            for round in 0..<100 {
                _ = try await client.query("SELECT 1")
                let answers = (0..<3).map { number in
                    Task {
                        // Long enough to be read in pieces, the last of them with what follows.
                        let row = try await client.query("SELECT \(number) AS number, repeat('x', 100000) AS text")[0]
                        return try row.decode("number", as: Int.self)
                    }
                }
                let end = Task { try await client.query("SELECT pg_terminate_backend(pg_backend_pid())") }
                for (number, answer) in answers.enumerated() {
                    switch await answer.result {
                    case .success(let value): #expect(value == number, "round \(round)")
                    // Sent behind the one that ended the connection.
                    case .failure(let error): #expect((error as? PostgresError)?.isUnavailable == true)
                    }
                }
                await #expect(throws: PostgresError.self) { try await end.value }
            }
        }
    }

    @Test("An error that COMMIT brings to light is the statement's own, although its rows came before")
    func failureAtCommit() async throws {
        try await withClient(connectionsMax: 1) { client, _ in
            try await client.execute("CREATE TABLE things (id int PRIMARY KEY)")
            try await client.execute(
                "CREATE TABLE parts (thing int REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED)"
            )
            let error = await #expect(throws: PostgresError.self) {
                try await client.query("INSERT INTO parts VALUES (9) RETURNING thing")
            }
            #expect(error?.sqlState == .foreignKeyViolation)
            #expect(try await client.query("SELECT * FROM parts").isEmpty)
        }
    }

    @Test("However many statements differ, at most 256 stay prepared, and those used last")
    func leastRecentlyUsed() async throws {
        try await withClient(connectionsMax: 1) { client, _ in
            for round in 0..<3 {
                for number in 0..<300 {
                    let often = try await client.query("SELECT 'often' AS word")[0].decode("word", as: String.self)
                    #expect(often == "often")
                    let query = PostgresQuery(stringLiteral: "SELECT \(number) AS number")
                    #expect(try await client.query(query)[0].decode("number", as: Int.self) == number, "round \(round)")
                }
            }
            let rows = try await client.query("SELECT statement, from_sql FROM pg_prepared_statements")
            #expect(rows.count <= 256)
            let texts = try rows.map { try $0.decode("statement", as: String.self) }
            #expect(texts.contains("SELECT 'often' AS word") && texts.contains("SELECT 299 AS number"))
            #expect(!texts.contains("SELECT 0 AS number"))
        }
    }

    @Test("Statements that many prepare at once, good and bad ones, all get their own answers")
    func preparingAtOnce() async throws {
        try await withClient(connectionsMax: 1) { client, _ in
            for round in 0..<20 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<12 {
                        group.addTask { () async throws in
                            if worker % 3 == 0 {
                                let bad = PostgresQuery(stringLiteral: "SELECT no_such_column_\(round)")
                                let error = await #expect(throws: PostgresError.self) { try await client.query(bad) }
                                #expect(error?.sqlState == .undefinedColumn)
                            } else {
                                let good = PostgresQuery(stringLiteral: "SELECT \(round) AS number")
                                let answer = try await client.query(good)[0].decode("number", as: Int.self)
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
        try await withClient(connectionsMax: 1) { client, _ in
            for round in 0..<3 {
                #expect(try await client.query("SELECT 7 AS number")[0].decode("number", as: Int.self) == 7)
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
        try await withClient(connectionsMax: 1) { client, _ in
            try await client.execute("CREATE TABLE things (id int)")
            try await client.execute("INSERT INTO things VALUES (7)")
            for round in 0..<3 {
                #expect(try await client.query("SELECT * FROM things").count == 1)
                let change = "ALTER TABLE things ADD COLUMN c\(round) int DEFAULT \(round)"
                try await client.execute(PostgresQuery(stringLiteral: change))
                let row = try await client.query("SELECT * FROM things")[0]
                #expect(try row.decode("c\(round)", as: Int.self) == round)
            }
        }
    }
}
