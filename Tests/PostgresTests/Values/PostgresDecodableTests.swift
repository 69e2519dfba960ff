import Foundation
import ServerProcesses
import Testing

@testable import Postgres

@Suite("Reading a column as what it is not")
struct PostgresDecodableTests {
    @Test("The error names the column, what was expected and what was found")
    func found() async throws {
        let table = [
            ("NULL::int", "NULL"), ("NULL::text[]", "NULL"), ("'a'::text", "text"), ("'a'::varchar", "varchar"),
            ("1.5::numeric", "numeric"), ("now()", "timestamptz"), ("now()::timestamp", "timestamp"),
            ("now()::date", "date"), ("gen_random_uuid()", "uuid"), ("'1'::json", "json"), ("'1'::jsonb", "jsonb"),
            ("'{}'::text[]", "text[]"), ("'{1}'::int8[]", "int8[]"), ("'{1}'::int4[]", "int4[]"),
            ("''::bytea", "bytea"),
            ("'(1,2)'::point", "type 600"),
        ]
        try await withSharedClient { client in
            for (expression, found) in table {
                let query = PostgresQuery(stringLiteral: "SELECT \(expression) AS value")
                let row = try await client.read(query)[0]
                check(#expect(throws: PostgresError.self) { try row.decode("value", as: Int.self) }, "Int", found)
            }
        }
    }

    @Test("The error names a column that there is not")
    func noColumn() async throws {
        try await withSharedClient { client in
            let row = try await client.read("SELECT 1 AS other")[0]
            let error = #expect(throws: PostgresError.self) { try row.decode("value", as: Int.self) }
            check(error, "Int", "no such column")
        }
    }

    @Test("The names are the server's")
    func names() async throws {
        let types: [PostgresType] = [
            .bool, .bytea, .name, .int8, .int2, .int4, .text, .json, .bpchar, .varchar, .timestamp, .timestamptz, .uuid,
            .jsonb, .nameArray, .int2Array, .int4Array, .textArray, .bpcharArray, .varcharArray, .int8Array,
        ]
        let otherTypes = [26, 700, 701, 1082, 1083, 1186, 1700].map(PostgresType.init(rawValue:))
        try await withSharedClient { client in
            for type in types + otherTypes {
                let row = try await client.read("SELECT (\(type.sqlName)::regtype)::oid::int8 AS oid")[0]
                #expect(try row.decode("oid", as: Int.self) == Int(type.rawValue), "\(type.sqlName)")
            }
        }
    }

    @Test("An array that is not what was asked for says why")
    func arrays() async throws {
        let table = [
            ("'{1,NULL}'::int4[]", "int4[] with a NULL element"), ("'{{1},{2}}'::int2[]", "int2[] of 2 dimensions"),
            ("'{{{{{{1}}}}}}'::int8[]", "int8[] of 6 dimensions"), ("'{a}'::text[]", "text[]"), ("1", "int4"),
        ]
        for (expression, found) in table {
            let error = await #expect(throws: PostgresError.self) { try await read(expression, as: [Int].self) }
            check(error, "Array<Int>", found)
        }
        let error = await #expect(throws: PostgresError.self) { try await read("'{1}'::int4[]", as: [String].self) }
        check(error, "Array<String>", "int4[]")
    }

    @Test("A cell whose bytes are not its type's is malformed, not of another type")
    func malformedCell() throws {
        let length = withUnsafeBytes(of: Int32(3)) { Array($0) }
        let storage = PostgresRows.Storage(
            columns: [PostgresRows.Column(name: "value", type: .uuid)],
            contents: length + [1, 2, 3],
            offsets: [4],
            commandTag: ""
        )
        let row = PostgresRows(storage: storage, rowCount: 1)[0]
        check(
            #expect(throws: PostgresError.self) { try row.decode("value", as: UUID.self) },
            "UUID",
            "malformed uuid"
        )
    }

    @Test("A column of texts is refused by its type's name")
    func utf8Column() async throws {
        try await withSharedClient { client in
            let rows = try await client.read("SELECT 1::int2 AS value")
            let error = #expect(throws: PostgresError.self) { try rows.utf8Column("value") }
            check(error, "String", "int2")
        }
    }

    @Test("No type reads a column of another type")
    func strict() {
        let readable: [(any PostgresDecodable.Type, [PostgresType])] = [
            (String.self, [.text, .varchar, .bpchar, .name]), (Int.self, [.int2, .int4, .int8]), (Bool.self, [.bool]),
            (Date.self, [.timestamp, .timestamptz]), ([UInt8].self, [.bytea]), (UUID.self, [.uuid]),
            (PostgresJSON.self, [.json, .jsonb]), ([Int].self, [.int2Array, .int4Array, .int8Array]),
            ([String].self, [.textArray, .varcharArray, .bpcharArray, .nameArray]),
        ]
        for (type, allowed) in readable {
            for oid in UInt32(0)...4_000 {
                let column = PostgresType(rawValue: oid)
                #expect(type.canDecode(column) == allowed.contains(column), "\(type) from \(column.sqlName)")
            }
        }
    }

    @Test("A cell of a length that its type can't have is refused", arguments: 0...17)
    func lengths(count: Int) {
        let bytes = [UInt8](repeating: 1, count: count)[...]
        #expect(((try? Int(postgresBytes: bytes, type: .int2)) != nil) == (count == 2))
        #expect(((try? Int(postgresBytes: bytes, type: .int4)) != nil) == (count == 4))
        #expect(((try? Int(postgresBytes: bytes, type: .int8)) != nil) == (count == 8))
        #expect(((try? Bool(postgresBytes: bytes, type: .bool)) != nil) == (count == 1))
        #expect(((try? Date(postgresBytes: bytes, type: .timestamp)) != nil) == (count == 8))
        #expect(((try? Date(postgresBytes: bytes, type: .timestamptz)) != nil) == (count == 8))
        #expect(((try? UUID(postgresBytes: bytes, type: .uuid)) != nil) == (count == 16))
    }

    @Test("Text that is not UTF-8 is malformed", arguments: [[0xC3, 0x28], [0xFF], [0x61, 0xC3]] as [[UInt8]])
    func brokenText(_ bytes: [UInt8]) {
        #expect(throws: UnreadableCell.malformed) { try String(postgresBytes: bytes[...], type: .text) }
    }

    private func check(_ error: PostgresError?, _ expected: String, _ found: String) {
        guard case .decoding(let column, let wanted, let was) = error else {
            Issue.record("\(String(reflecting: error))")
            return
        }
        #expect(column == "value" && wanted == expected && was == found)
        #expect(error.map { "\($0)" } == "column value: expected \(expected), found \(found)")
        #expect(error?.isUnavailable == false)
    }
}
