import Testing

@testable import Postgres

@Suite("Statements")
struct PostgresConnectionTests {
    @Test("A refused statement gives its SQLSTATE, and the connection stays usable", arguments: [1, 2])
    func refusal(maxConnections: Int) async throws {
        try await withClient(maxConnections: maxConnections) { client, _ in
            try await client.write("CREATE TABLE things (id int CONSTRAINT things_key UNIQUE)")
            #expect(try await client.write("INSERT INTO things VALUES (1), (2)") == 2)
            let error = await #expect(throws: PostgresError.self) {
                try await client.write("INSERT INTO things VALUES (\(2))")
            }
            guard case .server(let refusal) = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            #expect(refusal.sqlState == .uniqueViolation)
            #expect(error?.isUnavailable == false)
            #expect(try await client.read("SELECT id FROM things").count == 2)
        }
    }

    @Test("Text with NUL is refused with 22021, and the connection stays usable", arguments: ["\0", "a\0b", "end\0"])
    func nul(_ text: String) async throws {
        try await withClient(maxConnections: 1) { client, _ in
            let before = try await client.read("SELECT pg_backend_pid() AS pid")[0].decode("pid", as: Int.self)
            let error = await #expect(throws: PostgresError.self) { try await client.read("SELECT \(text) AS text") }
            #expect(error?.sqlState?.code == "22021")
            let after = try await client.read("SELECT pg_backend_pid() AS pid")[0].decode("pid", as: Int.self)
            #expect(after == before)
        }
    }

    @Test("A statement is prepared once for each connection and text")
    func prepared() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            for number in 0..<20 {
                _ = try await client.read("SELECT \(number) AS twenty_times")
            }
            let rows = try await client.read(
                "SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%twenty_times%' AND statement NOT LIKE '%pg_%'"
            )
            #expect(try rows.map { try $0.decode("statement", as: String.self) } == ["SELECT $1 AS twenty_times"])
        }
    }

    @Test("However many texts there are, a bounded number stays prepared, and all of them work")
    func bounded() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            for round in 0..<2 {
                for number in 0..<300 {
                    let query = PostgresQuery(stringLiteral: "SELECT \(number) AS number")
                    #expect(try await client.read(query)[0].decode("number", as: Int.self) == number, "round \(round)")
                }
            }
            let count = try await client.read("SELECT count(*) AS count FROM pg_prepared_statements")[0]
            #expect((200...256).contains(try count.decode("count", as: Int.self)))
        }
    }

    @Test("After a table changed under a prepared statement, the next call works")
    func cachedPlan() async throws {
        try await withClient(maxConnections: 1) { client, _ in
            try await client.write("CREATE TABLE things (id int)")
            try await client.write("INSERT INTO things VALUES (7)")
            #expect(try await client.read("SELECT * FROM things").count == 1)
            try await client.write("ALTER TABLE things ADD COLUMN words text DEFAULT 'new'")
            let row = try await client.read("SELECT * FROM things")[0]
            #expect(try row.decode("words", as: String.self) == "new")
        }
    }

    @Test("A script runs many statements, and stops at the first that fails")
    func script() async throws {
        try await withClient { client, _ in
            try await client.withConnection { connection in
                try await connection.execute(script: "CREATE TABLE a (); CREATE TABLE b ();")
                let error = await #expect(throws: PostgresError.self) {
                    try await connection.execute(script: "CREATE TABLE c (); SELECT no_such_column; CREATE TABLE d ();")
                }
                #expect(error?.sqlState == .undefinedColumn)
                try await connection.execute(script: "")
            }
            let rows = try await client.read("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
            #expect(try rows.map { try $0.decode("tablename", as: String.self) } == ["a", "b"])
        }
    }

    @Test(
        "COPY from or to the client is refused, and the next query works",
        .timeLimit(.minutes(1)),
        arguments: ["COPY (SELECT 1) TO STDOUT", "COPY things FROM STDIN"],
        [false, true]
    )
    func copy(statement: String, isScript: Bool) async throws {
        try await withClient(maxConnections: 1) { client, _ in
            try await client.write("CREATE TABLE things (id int)")
            let error = await #expect(throws: PostgresError.self) {
                try await client.withConnection { connection in
                    if isScript {
                        try await connection.execute(script: statement)
                    } else {
                        try await connection.query(PostgresQuery(stringLiteral: statement))
                    }
                }
            }
            guard case .connectionLost = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            #expect(try await client.read("SELECT * FROM things").isEmpty)
        }
    }

    @Test("Sessions run in UTC, whatever the database is set to")
    func timeZone() async throws {
        try await withClient { client, url in
            try await client.withConnection {
                try await $0.execute(
                    script:
                        "DO $$BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database()); END$$"
                )
            }
            try await withClient(url: url) { fresh in
                let row = try await fresh.read("SELECT current_setting('timezone') AS zone")[0]
                #expect(try row.decode("zone", as: String.self) == "UTC")
            }
        }
    }
}
