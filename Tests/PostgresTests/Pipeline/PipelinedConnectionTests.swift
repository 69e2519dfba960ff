import DatabaseTestSupport
import ServerProcesses
import Testing

@testable import Postgres

@Suite("Statements of many callers on few connections", .timeLimit(.minutes(2)))
struct PipelinedConnectionTests {
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

    @Test("A statement undone because of another one is run again, and takes effect once")
    func effects() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            try await client.write("CREATE TABLE things (id int)")
            let numbers = 0..<300
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in numbers {
                    group.addTask { () async throws in
                        do throws(PostgresError) {
                            _ = try await client.read(
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
            let ids = try await client.read("SELECT id FROM things ORDER BY id").map {
                try $0.decode("id", as: Int.self)
            }
            #expect(ids == numbers.filter { $0 % 7 != 0 })
        }
    }

    @Test("Of sixteen in one batch of which two fail, each of the others takes effect, and once")
    func oneBatch() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            try await client.withConnection { connection in
                try await connection.execute(
                    script: "CREATE SEQUENCE tries; CREATE TABLE things (id int, try bigint DEFAULT nextval('tries'))"
                )
            }
            // Those that wait for a connection are sent together when it comes back.
            let tasks = try await client.withConnection { _ in
                var tasks: [Task<PostgresRows, any Error>] = []
                for number in 0..<16 {
                    let query: PostgresQuery = "INSERT INTO things SELECT \(number) / (\(number) % 7) * 0 + \(number)"
                    tasks.append(Task { try await client.read(query) })
                    try await poll("it waits") { await client.waiterCount == number + 1 }
                }
                return tasks
            }
            for (number, task) in tasks.enumerated() {
                switch await task.result {
                case .success: #expect(number % 7 != 0)
                case .failure(let error):
                    #expect(number % 7 == 0 && (error as? PostgresError)?.sqlState?.code == "22012")
                }
            }
            let ids = try await client.read("SELECT id FROM things ORDER BY id").map { row in
                try row.decode("id", as: Int.self)
            }
            #expect(ids == (0..<16).filter { $0 % 7 != 0 })
        }
    }

    @Test("Statements share a connection while they are quick, as many as allowed at the same time")
    func sharing() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await HeldLock.holding(url) { lock async throws in
                try await ClockedClient.run(url: url, adjust: { $0.pool.pipelineDepth = 8 }) { clocked async throws in
                    let first = Task { try await clocked.client.read(HeldLock.wait).count }
                    try await clocked.waitUntilUnderWay(1)
                    let others = (0..<9).map { _ in Task { try await clocked.client.read("SELECT 1").count } }
                    try await clocked.waitUntilUnderWay(8)
                    try await clocked.waitUntilWaiting(2)
                    try await lock.release()
                    for task in [first] + others { #expect(try await task.value == 1) }
                }
            }
        }
    }

    @Test("A slow statement does not delay those that come 20 milliseconds later")
    func slowStatement() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await HeldLock.holding(url) { lock async throws in
                try await ClockedClient.run(url: url, maxConnections: 2) { clocked async throws in
                    let slow = Task { try await clocked.client.read(HeldLock.wait) }
                    try await clocked.waitUntilUnderWay(1)
                    await clocked.advance(by: .milliseconds(19))
                    let behind = Task { try await clocked.client.read("SELECT 1") }
                    try await clocked.waitUntilUnderWay(2)
                    await clocked.advance(by: .milliseconds(1))
                    for number in 1...20 { try await ask(clocked.client, number * 7 + 1) }
                    #expect(await clocked.client.underWayCount == 2)
                    try await lock.release()
                    #expect(try await slow.value.count == 1)
                    #expect(try await behind.value.count == 1)
                }
            }
        }
    }

    @Test("A caller gets an answer that arrived just before the connection ended")
    func answersBeforeTheEnd() async throws {
        try await withClient(maxConnections: 1, adjust: { $0.pool.slowness = .seconds(600) }) { client, url in
            for round in 0..<20 {
                try await HeldLock.holding(url) { lock async throws in
                    // Each is sent by itself, and all are answered at once.
                    let first = Task { try await client.read(HeldLock.wait).count }
                    try await poll("it is under way") { await client.underWayCount == 1 }
                    var answers: [Task<Int, any Error>] = []
                    for number in 0..<3 {
                        answers.append(
                            Task {
                                // Long enough to be read in pieces, the last of them with what follows.
                                let row = try await client.read(
                                    "SELECT \(number) AS number, repeat('x', 100000) AS text"
                                )[0]
                                return try row.decode("number")
                            }
                        )
                        try await poll("it is behind") { await client.underWayCount == number + 2 }
                    }
                    let end = Task { try await client.read("SELECT pg_terminate_backend(pg_backend_pid())") }
                    try await poll("the end is behind all") { await client.underWayCount == 5 }
                    try await lock.release()
                    #expect(try await first.value == 1)
                    for (number, answer) in answers.enumerated() {
                        #expect(try await answer.value == number, "round \(round)")
                    }
                    let error = await #expect(throws: PostgresError.self) { try await end.value }
                    guard case .connectionLost = error else {
                        Issue.record("\(String(reflecting: error))")
                        return
                    }
                }
            }
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

    @Test("Prepared statements that the server forgot are prepared again, without an error")
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

    @Test("A table that changes under a prepared statement causes no error")
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
