import Testing

@testable import Postgres

@Suite("Arrays")
struct ArrayTests {
    @Test(
        "Texts go to the server and back, and are read from a literal",
        arguments: [
            ([], "{}"), ([""], #"{""}"#), (["a", "b"], "{a,b}"), (["NULL", "null"], #"{"NULL","null"}"#),
            (["Zoë 😀", "a,b", "{}", #"\""#], #"{"Zoë 😀","a,b","{}","\\\""}"#),
        ] as [([String], String)]
    )
    func texts(value: [String], literal: String) async throws {
        #expect(try await roundTrip(value) == value)
        #expect(try await serverText(of: value) == literal)
        #expect(try await read("'\(literal)'::text[]") == value)
        #expect(try await read("'\(literal)'::text[]") == value.map(Optional.some))
    }

    @Test(
        "Integers go to the server and back, and are read from a literal",
        arguments: [
            ([], "{}"), ([0], "{0}"), ([.min, -1, 1, .max], "{-9223372036854775808,-1,1,9223372036854775807}"),
        ] as [([Int], String)]
    )
    func integers(value: [Int], literal: String) async throws {
        #expect(try await roundTrip(value) == value)
        #expect(try await serverText(of: value) == literal)
        #expect(try await read("'\(literal)'::int8[]") == value)
    }

    @Test("An array of optionals may have NULLs, and another one may not")
    func nulls() async throws {
        let (integers, texts): ([Int?], [String?]) = ([nil, 0, nil, -1], ["", nil])
        #expect(try await roundTrip(integers) == integers)
        #expect(try await serverText(of: integers) == "{NULL,0,NULL,-1}")
        #expect(try await roundTrip(texts) == texts)
        #expect(try await serverText(of: texts) == #"{"",NULL}"#)
        #expect(try await roundTrip([Int?]()) == [])
        await #expect(throws: PostgresError.self) { let _: [Int] = try await read("'{1,NULL}'::int8[]") }
    }

    @Test("Arrays of the narrower types are read too")
    func otherTypes() async throws {
        #expect(try await read("'{-32768,32767}'::int2[]") == [-32_768, 32_767])
        #expect(try await read("'{-2147483648,2147483647}'::int4[]") == [Int(Int32.min), Int(Int32.max)])
        #expect(try await read("'{a,é}'::varchar(3)[]") == ["a", "é"])
        #expect(try await read("'{b}'::char(3)[]") == ["b  "])
        #expect(try await read("'{c}'::name[]") == ["c"])
    }

    @Test("A lower bound other than 1, and a slice that holds no NULL any more, change nothing")
    func bounds() async throws {
        #expect(try await read("'[-3:-1]={1,2,3}'::int4[]") == [1, 2, 3])
        #expect(try await read("('{1,2,NULL}'::int4[])[1:2]") == [1, 2])
        #expect(try await read("array_remove('{1,NULL,2}'::int4[], NULL)") == [1, 2])
    }

    @Test("Ten thousand elements keep their order")
    func many() async throws {
        let integers = (0..<10_000).map { $0 % 2 == 0 ? $0 : -$0 }
        let texts = integers.map { "element \($0)" }
        #expect(try await roundTrip(integers) == integers)
        #expect(try await roundTrip(texts) == texts)
        #expect(try await read("array(SELECT generate_series(1, 10000))") == Array(1...10_000))
    }

    @Test("An array is stored in columns of every type that reads as it, and searched with ANY")
    func columns() async throws {
        try await withClient { client, _ in
            try await client.write("CREATE TABLE things (a text[], b varchar(9)[], c int8[], d int4[], e int2[])")
            let (texts, integers) = (["x", "y"], [1, -2])
            try await client.write(
                "INSERT INTO things VALUES (\(texts), \(texts), \(integers), \(integers), \(integers))"
            )
            let row = try await client.read("SELECT * FROM things WHERE c[2] = ANY(\(integers)) AND a @> \(["y"])")[0]
            #expect(try row.decode("a", as: [String].self) == texts)
            #expect(try row.decode("b", as: [String].self) == texts)
            for column in ["c", "d", "e"] { #expect(try row.decode(column, as: [Int].self) == integers) }
        }
    }

    @Test("An array of bytes is bytea, and nothing else")
    func bytes() async throws {
        #expect([UInt8]().postgresValue.type == .bytea)
        #expect(try await read(#"'\x00ff'::bytea"#) == [0, 0xFF] as [UInt8])
        #expect([UInt8].canDecode(.bytea) && ![UInt8].canDecode(.int2Array) && ![Int].canDecode(.bytea))
    }

    @Test("Text in an array that holds NUL is refused with 22021")
    func nul() async throws {
        let error = await #expect(throws: PostgresError.self) { try await roundTrip(["a", "b\0"]) }
        #expect(error?.sqlState?.code == "22021")
    }
}
