import Foundation
import Testing

@testable import Postgres

@Suite("Reading a column as what it is not")
struct DecodingTests {
    @Test(
        "The error names the column, what was expected and what was found",
        arguments: [
            ("SELECT 1 AS other", "no such column"),
            ("SELECT NULL::int AS value", "NULL"),
            ("SELECT 'a'::text AS value", "type 25"),
            ("SELECT 1.5::numeric AS value", "type 1700"),
            ("SELECT now() AS value", "type 1184"),
        ]
    )
    func error(statement: String, found: String) async throws {
        try await withClient { client, _ in
            let row = try await client.query(PostgresQuery(stringLiteral: statement))[0]
            let error = #expect(throws: PostgresError.self) { try row.decode("value", as: Int.self) }
            guard case .decoding(let column, let expected, let was) = error else {
                Issue.record("\(String(reflecting: error))")
                return
            }
            #expect(column == "value" && expected == "Int" && was == found)
            #expect(error.map { "\($0)" } == "column value: expected Int, found \(found)")
            #expect(error?.isUnavailable == false)
        }
    }

    @Test("No type reads a column of another type")
    func strict() async throws {
        try await withClient { client, _ in
            let row = try await client.query("SELECT 1 AS number, 'a'::text AS words, true AS flag, now() AS time")[0]
            #expect(throws: PostgresError.self) { try row.decode("number", as: String.self) }
            #expect(throws: PostgresError.self) { try row.decode("number", as: Bool.self) }
            #expect(throws: PostgresError.self) { try row.decode("number", as: Date.self) }
            #expect(throws: PostgresError.self) { try row.decode("words", as: [UInt8].self) }
            #expect(throws: PostgresError.self) { try row.decode("flag", as: Int.self) }
            #expect(throws: PostgresError.self) { try row.decodeIfPresent("time", as: Int.self) }
        }
    }

    @Test(
        "A cell of a length that its type can't have is refused",
        arguments: [[], Array(repeating: 1, count: 9)] as [[UInt8]]
    )
    func lengths(_ bytes: [UInt8]) {
        #expect(Int(postgresBytes: bytes[...]) == nil)
        #expect(Bool(postgresBytes: bytes[...]) == nil)
        #expect(Date(postgresBytes: bytes[...]) == nil)
        #expect(String(postgresBytes: [0xC3, 0x28]) == nil)
    }
}
