import Testing

@testable import Postgres

@Suite("What a standby must have replayed")
struct ReadPositionTests {
    @Test(
        "Before the position, the statement is not run",
        arguments: [
            "SELECT nextval('runs') AS number",
            "SELECT nextval('runs') AS number FROM things",
            "SELECT number FROM things WHERE nextval('runs') > 0 ORDER BY number LIMIT 1",
            "WITH drawn AS MATERIALIZED (SELECT nextval('runs') AS number FROM things) SELECT * FROM drawn",
        ]
    )
    func before(statement: String) async throws {
        try await withClient { client, _ async throws in
            try await client.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE SEQUENCE runs; CREATE TABLE things (number int); INSERT INTO things VALUES (1), (2);
                        """
                )
            }
            let query = PostgresQuery(stringLiteral: statement)
            for isReplayed in [false, true] {
                let position = ReadPosition(isReplayedIf: "\(isReplayed)::boolean")
                let rows = try ReadPosition.rows(await client.read(position.checked(query)))
                #expect((rows != nil) == isReplayed)
                let hasRun: Bool = try await client.read("SELECT is_called FROM runs")[0].decode("is_called")
                #expect(hasRun == isReplayed)
            }
        }
    }

    @Test("A statement without rows has none, and its position is known all the same")
    func noRows() async throws {
        try await withSharedClient { client in
            let position = ReadPosition(isReplayedIf: "true")
            let rows = try ReadPosition.rows(await client.read(position.checked("SELECT 1 AS one WHERE false")))
            #expect(rows?.isEmpty == true)
        }
    }
}
