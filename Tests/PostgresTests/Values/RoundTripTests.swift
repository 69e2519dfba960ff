import Foundation
import Testing

@testable import Postgres

@Suite("Values to PostgreSQL and back")
struct RoundTripTests {
    @Test("Int", arguments: [0, 1, -1, 127, -128, 255, 256, 65_536, Int(Int32.min), Int(Int32.max), .min, .max])
    func integer(_ value: Int) async throws {
        #expect(try await roundTrip(value) == value)
        #expect(try await serverText(of: value) == String(value))
    }

    @Test("Bool", arguments: [true, false])
    func boolean(_ value: Bool) async throws {
        #expect(try await roundTrip(value) == value)
        #expect(try await serverText(of: value) == String(value))
    }

    @Test(
        "String",
        arguments: ["", " ", "ASCII", "Zoë 😀", "\u{1}\u{7F}\u{FFFF}"]
    )
    func text(_ value: String) async throws {
        #expect(try await roundTrip(value) == value)
        #expect(try await serverText(of: value) == value)
    }

    @Test("Bytes", arguments: [[], [0], Array(0...255)] as [[UInt8]])
    func bytes(_ value: [UInt8]) async throws {
        #expect(try await roundTrip(value) == value)
    }

    @Test("A mebibyte of text, and one of bytes")
    func large() async throws {
        let text = String(repeating: "é", count: 1 << 19)
        let bytes = [UInt8](repeating: 0xFF, count: 1 << 20)
        #expect(try await roundTrip(text) == text)
        #expect(try await roundTrip(bytes) == bytes)
    }

    @Test(
        "Date, to the microsecond, before 1970 too",
        arguments: [
            ("2000-01-01 00:00:00", 946_684_800.0),
            ("1970-01-01 00:00:00", 0.0),
            ("1969-12-31 23:59:59.999999", -0.000001),
            ("1931-11-28 19:33:20.5", -1_202_099_199.5),
            ("2026-11-21 08:06:03.123456", 1_795_248_363.123456),
            ("1999-12-31 23:59:59.999999", 946_684_799.999999),
            ("2000-01-01 00:00:00.000001", 946_684_800.000001),
            ("2261-01-02 03:04:05", 9_183_207_845.0),
        ]
    )
    func date(text: String, seconds: Double) async throws {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(try await serverText(of: date) == text)
        #expect(abs(try await roundTrip(date).timeIntervalSince(date)) < 0.000001)
        try await withSharedClient { client in
            let rows = try await client.read(
                "SELECT \(text)::text::timestamp AS plain, (\(text) || '+00')::timestamptz AS zoned"
            )
            #expect(abs(try rows[0].decode("plain", as: Date.self).timeIntervalSince(date)) < 0.000001)
            #expect(abs(try rows[0].decode("zoned", as: Date.self).timeIntervalSince(date)) < 0.000001)
        }
    }

    @Test("A date that a timestamptz column holds, or is compared with, is the same instant")
    func dateWithZone() async throws {
        let date = Date(timeIntervalSince1970: 1_795_248_363.5)
        try await withClient { client, _ in
            try await client.write("CREATE TABLE things (zoned timestamptz, plain timestamp)")
            try await client.write("INSERT INTO things VALUES (\(date), \(date))")
            let rows = try await client.read(
                """
                SELECT zoned, plain, (zoned AT TIME ZONE 'Asia/Tokyo')::text AS tokyo FROM things
                WHERE zoned = \(date) AND plain = \(date) AND zoned = '2026-11-21 09:06:03.5+01'::timestamptz
                    AND zoned > \(date.addingTimeInterval(-0.001)) AND zoned < \(date.addingTimeInterval(0.001))
                """
            )
            let row = try #require(rows.first)
            #expect(try row.decode("zoned", as: Date.self) == date)
            #expect(try row.decode("plain", as: Date.self) == date)
            #expect(try row.decode("tokyo", as: String.self) == "2026-11-21 17:06:03.5")
        }
    }

    @Test(
        "A date beyond the server's years is refused with 22008",
        arguments: [1e13, -1e13, 1e300, -1e300, .infinity, .nan]
    )
    func unknownDate(seconds: Double) async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await roundTrip(Date(timeIntervalSince1970: seconds))
        }
        #expect(error?.sqlState?.code == "22008")
    }

    @Test("Infinity is the far future, minus infinity the far past")
    func infinity() async throws {
        try await withSharedClient { client in
            let rows = try await client.read("SELECT 'infinity'::timestamp AS late, '-infinity'::timestamptz AS early")
            #expect(try rows[0].decode("late", as: Date.self) == .distantFuture)
            #expect(try rows[0].decode("early", as: Date.self) == .distantPast)
        }
    }

    @Test("The narrower column types are read too")
    func otherColumnTypes() async throws {
        try await withSharedClient { client in
            let rows = try await client.read(
                """
                SELECT (-2)::smallint AS small, 32767::smallint AS small_max, (-2147483648)::integer AS medium,
                    'a'::varchar(3) AS short, 'b'::char(3) AS padded, 'c'::name AS name
                """
            )
            #expect(try rows[0].decode("small", as: Int.self) == -2)
            #expect(try rows[0].decode("small_max", as: Int.self) == 32_767)
            #expect(try rows[0].decode("medium", as: Int.self) == Int(Int32.min))
            #expect(try rows[0].decode("short", as: String.self) == "a")
            #expect(try rows[0].decode("padded", as: String.self) == "b  ")
            #expect(try rows[0].decode("name", as: String.self) == "c")
        }
    }

    @Test("NULL of any type reads as nil")
    func null() async throws {
        try await withSharedClient { client in
            let rows = try await client.read(
                """
                SELECT NULL::int AS a, NULL::text AS b, NULL::bool AS c, NULL::bytea AS d, NULL::timestamp AS e,
                    NULL::uuid AS f, NULL::json AS g, NULL::text[] AS h, NULL::int[] AS i
                """
            )
            #expect(try rows[0].decodeIfPresent("a", as: Int.self) == nil)
            #expect(try rows[0].decodeIfPresent("b", as: String.self) == nil)
            #expect(try rows[0].decodeIfPresent("c", as: Bool.self) == nil)
            #expect(try rows[0].decodeIfPresent("d", as: [UInt8].self) == nil)
            #expect(try rows[0].decodeIfPresent("e", as: Date.self) == nil)
            #expect(try rows[0].decodeIfPresent("f", as: UUID.self) == nil)
            #expect(try rows[0].decodeIfPresent("g", as: PostgresJSON.self) == nil)
            #expect(try rows[0].decodeIfPresent("h", as: [String].self) == nil)
            #expect(try rows[0].decodeIfPresent("i", as: [Int].self) == nil)
        }
    }

    @Test("No value is NULL, in a column of any type")
    func noValue() async throws {
        try await withClient { client, _ in
            try await client.write(
                "CREATE TABLE things (a uuid, b json, c jsonb, d text[], e bigint[], f timestamptz)"
            )
            let (uuid, json) = (UUID?.none, PostgresJSON?.none)
            let (strings, integers) = ([String]?.none, [Int]?.none)
            try await client.write(
                "INSERT INTO things VALUES (\(uuid), \(json), \(json), \(strings), \(integers), \(Date?.none))"
            )
            let row = try await client.read("SELECT num_nulls(a, b, c, d, e, f) AS nulls FROM things")[0]
            #expect(try row.decode("nulls", as: Int.self) == 6)
        }
    }

    @Test("Thousands of rows keep their order and their cells")
    func manyRows() async throws {
        try await withSharedClient { client in
            let rows = try await client.read(
                """
                SELECT n AS number, CASE WHEN n % 3 = 0 THEN NULL ELSE repeat('x', (n % 7)::int) END AS words
                FROM generate_series(1::bigint, \(5_000)) AS n ORDER BY n
                """
            )
            #expect(rows.count == 5_000)
            for (index, row) in rows.enumerated() {
                #expect(try row.decode("number", as: Int.self) == index + 1)
                let words = (index + 1) % 3 == 0 ? nil : String(repeating: "x", count: (index + 1) % 7)
                #expect(try row.decodeIfPresent("words", as: String.self) == words)
            }
        }
    }
}
