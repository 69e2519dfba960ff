import Testing

@testable import Postgres

@Suite("PostgresQuery")
struct PostgresQueryTests {
    @Test("Every interpolation becomes a parameter, in order")
    func binds() {
        let query: PostgresQuery = "INSERT INTO t VALUES (\(1), \("two"), \(true))"
        #expect(query.sql == "INSERT INTO t VALUES ($1, $2, $3)")
        #expect(query.parameters == [1.postgresValue, "two".postgresValue, true.postgresValue])
    }

    @Test("nil binds NULL, an optional that holds something its value")
    func binding() {
        let (nothing, something): (String?, String?) = (nil, "something")
        let query: PostgresQuery = "SELECT \(nothing), \(something)"
        #expect(query.sql == "SELECT $1, $2")
        #expect(query.parameters == [.null, "something".postgresValue])
    }

    @Test(
        "A value never changes what the statement does",
        arguments: [
            "it's", "'; DROP TABLE things; --", "$1", "$1 $2", "\"quoted\"", "\\'", "E'\\\\'", "%s", "", " ", "\n\t",
            "Zoë 😀 \u{10FFFF}",
        ]
    )
    func values(_ value: String) async throws {
        let rows = try await withSharedClient { client in
            try await client.withTransaction { connection in
                try await connection.execute("CREATE TEMPORARY TABLE things (value text) ON COMMIT DROP")
                try await connection.execute("INSERT INTO things VALUES (\(value))")
                return try await connection.query("SELECT value FROM things WHERE value = \(value)")
            }
        }
        #expect(try rows.map { try $0.decode("value", as: String.self) } == [value])
    }

    @Test("nil and a value go through one and the same text, whichever comes first", arguments: [false, true])
    func alternating(nilFirst: Bool) async throws {
        try await withClient(maxConnections: 1) { client, _ in
            try await client.write("CREATE TABLE things (small integer, words varchar(20), day timestamp)")
            let numbers: [Int?] = nilFirst ? [nil, 5, nil] : [5, nil, 5]
            for number in numbers {
                let words = number.map { "\($0)" }
                try await client.write("INSERT INTO things (small, words) VALUES (\(number), \(words))")
            }
            let rows = try await client.read("SELECT small, words FROM things")
            #expect(try rows.map { try $0.decodeIfPresent("small", as: Int.self) } == numbers)
            #expect(
                try rows.map { try $0.decodeIfPresent("words", as: String.self) } == numbers.map { $0.map { "\($0)" } }
            )
        }
    }
}
