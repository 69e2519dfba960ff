import ServerProcesses
import Testing

@testable import Postgres

@Suite("JSON")
struct PostgresJSONTests {
    struct Thing: Codable, Equatable {
        var name: String
        var size: Int?
        var parts: [Thing] = []
    }

    static let thing = Thing(name: "Zoë \"😀\" a/b\n", size: nil, parts: [Thing(name: "", size: .max)])

    @Test(
        "A text goes to the server and back as it is",
        arguments: ["null", "true", "-1.50e3", #""Zoë 😀""#, "[]", #" {"b" : 1, "a":2, "b":3 }  "#]
    )
    func text(_ text: String) async throws {
        let json = PostgresJSON(utf8: Array(text.utf8))
        #expect(try await roundTrip(json) == json)
        #expect(try await serverText(of: json) == text)
    }

    @Test("A value is stored in a json and in a jsonb column, and read from both", arguments: ["json", "jsonb"])
    func columns(type: String) async throws {
        let json = try PostgresJSON(encoding: Self.thing)
        try await withClient { client, _ in
            try await client.write(PostgresQuery(stringLiteral: "CREATE TABLE things (id int, value \(type))"))
            try await client.write("INSERT INTO things VALUES (1, \(json)), (2, NULL)")
            try await client.write("UPDATE things SET value = \(json) WHERE id = 2")
            let rows = try await client.read("SELECT value, value->>'name' AS name FROM things ORDER BY id")
            #expect(rows.count == 2)
            for row in rows {
                #expect(try row.decode("value", as: PostgresJSON.self).decode() == Self.thing)
                #expect(try row.decode("name", as: String.self) == Self.thing.name)
            }
            let found = try await client.read("SELECT id FROM things WHERE value::jsonb @> \(json)::jsonb")
            #expect(found.count == 2)
        }
    }

    @Test("A text of many bytes is read from both types")
    func large() async throws {
        let words = Array(repeating: "é", count: 100_000)
        let json = try PostgresJSON(encoding: words)
        #expect(try await roundTrip(json) == json)
        try await withSharedClient { client in
            let row = try await client.read("SELECT \(json)::jsonb AS value")[0]
            #expect(try row.decode("value", as: PostgresJSON.self).decode() == words)
        }
    }

    @Test("A literal of either type is read", arguments: ["json", "jsonb"])
    func literals(type: String) async throws {
        let json = try await read(#"'{"name":"a","parts":[]}'::"# + type, as: PostgresJSON.self)
        #expect(try json.decode(as: Thing.self) == Thing(name: "a"))
        #expect(try await read("'null'::\(type)", as: PostgresJSON.self).utf8 == Array("null".utf8))
    }

    @Test("Equal values give equal texts, with their keys in order")
    func deterministic() throws {
        let json = try PostgresJSON(encoding: ["b": 1, "a": 2, "c": 3])
        #expect(json.utf8 == Array(#"{"a":2,"b":1,"c":3}"#.utf8))
    }

    @Test("The server refuses a text that is not JSON with 22P02", arguments: ["", "{", "nul", "{'a':1}", "1 2"])
    func refusal(_ text: String) async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await roundTrip(PostgresJSON(utf8: Array(text.utf8)))
        }
        #expect(error?.sqlState?.code == "22P02")
    }

    @Test("A text that holds something else than is asked for gives an error")
    func otherValue() throws {
        let json = PostgresJSON(utf8: Array(#"{"name":1}"#.utf8))
        #expect(throws: DecodingError.self) { try json.decode(as: Thing.self) }
        #expect(throws: DecodingError.self) { try PostgresJSON(utf8: [0xFF]).decode(as: Thing.self) }
        #expect(throws: DecodingError.self) { try PostgresJSON(utf8: []).decode(as: Thing.self) }
        #expect(throws: EncodingError.self) { try PostgresJSON(encoding: Double.nan) }
    }

    @Test(
        "Of jsonb's versions only the first is read, and no type reads an empty or broken text",
        arguments: [
            (.jsonb, []), (.jsonb, [1]), (.jsonb, [0, 0x31]), (.jsonb, [2, 0x31]), (.jsonb, [0x31]),
            (.jsonb, [1, 0xC3, 0x28]), (.json, []), (.json, [0xC3, 0x28]),
        ] as [(PostgresType, [UInt8])]
    )
    func malformed(type: PostgresType, bytes: [UInt8]) {
        #expect(throws: UnreadableCell.malformed) { try PostgresJSON(postgresBytes: bytes[...], type: type) }
    }
}
