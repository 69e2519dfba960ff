import Testing

@testable import Postgres

@Suite("Descriptions of errors and configurations")
struct PostgresErrorTests {
    private static let secret = "what the server said about ada@example.com"

    @Test(
        "The description never holds the server's words, the debug description does",
        arguments: [
            PostgresError.cannotConnect(secret), .connectionLost(secret),
            .server(PostgresServerError(sqlState: SQLState("23505"), message: secret)),
        ]
    )
    func redaction(_ error: PostgresError) {
        #expect(!"\(error)".contains("ada"))
        #expect(!String(describing: error).contains("ada"))
        #expect(String(reflecting: error).contains(Self.secret))
    }

    @Test("The server's words about a value stay out of the description")
    func quotedValue() async throws {
        try await withSharedClient { client in
            let error = await #expect(throws: PostgresError.self) {
                try await client.read("SELECT \("ada@example.com")::text::int AS number")
            }
            #expect(error.map { "\($0)" } == "PostgreSQL refused a statement (SQLSTATE 22P02)")
            #expect(String(reflecting: error).contains("ada@example.com"))
        }
    }

    @Test(
        "Which errors mean that trying later may help",
        arguments: [
            ("08006", true), ("53300", true), ("57P01", true), ("57014", true), ("58030", true), ("23505", false),
            ("42P01", false), ("22021", false), ("40001", false),
        ]
    )
    func unavailable(sqlState: String, isUnavailable: Bool) {
        let error = PostgresServerError(sqlState: SQLState(sqlState), message: "")
        #expect(PostgresError.server(error).isUnavailable == isUnavailable)
    }

    @Test(
        "A malformed URL is refused",
        arguments: [
            "not a url", "postgresql://[::1/db",
            "postgresql://user@host/db?no_such_option=1",
            "http://example.com/db", "postgresql://user:pa@ss@host/db", "postgresql://user:top/secret@host/db",
            "postgresql://user@host/%zz", "password",
        ]
    )
    func malformedURL(_ url: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresConfiguration(url: url) }
        guard case .cannotConnect = error else {
            Issue.record("\(String(reflecting: error))")
            return
        }
        #expect(error.map { "\($0)" } == "PostgreSQL cannot be reached")
    }

    @Test(
        "Every form of URL that platforms set is taken",
        arguments: [
            "postgres://user:pass@host:5432/db", "postgresql://user@%2Frun%2Fpostgres:5432/db?sslmode=require",
            "postgresql:///db", "host=localhost dbname=db",
            "postgres://u:p@h1:1,h2:2/db?target_session_attrs=read-write",
        ]
    )
    func urls(_ url: String) throws {
        #expect(try PostgresConfiguration(url: url).url == url)
    }

    @Test("A configuration prints neither its URL nor the password in it")
    func configurationIsRedacted() throws {
        let configuration = try PostgresConfiguration(url: "postgresql://ada:hunter2@host/db")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("hunter2") && !text.contains("ada"))
        }
    }
}
