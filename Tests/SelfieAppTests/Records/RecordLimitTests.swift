import ConnectionTestSupport
import Encodings
import Foundation
import Postgres
import ServiceTestSupport
import Testing

/// The limits of calls, each at it and one past it; and pages that are cut by more than their limit.
@Suite("Limits of records", .timeLimit(.minutes(3)))
struct RecordLimitTests {
    private static func houses(_ ids: some Sequence<Int>) -> String {
        "[\(ids.map { #"{"id":"h\#($0)","data":{"address":"a"}}"# }.joined(separator: ","))]"
    }

    private static func list(_ ids: some Sequence<Int>) -> String {
        ids.map { "h\($0)" }.joined(separator: ",")
    }

    @Test("A page has 50 records, 200 at most; 200 ids are looked up, and 100 records changed or deleted; not one more")
    func counts() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            for start in [0, 100, 200] {
                let answer = try await service.call(
                    "POST",
                    "/api/records/houses",
                    as: ada,
                    Self.houses(start..<start + 100)
                )
                #expect(answer.status == 200)
            }
            let usual = try await service.call("GET", "/api/records/houses", as: ada)
            #expect(usual.records.count == 50 && usual.json["next"] is String)
            let page = try await service.call("GET", "/api/records/houses?limit=200", as: ada)
            #expect(page.records.count == 200)
            #expect(try await service.call("GET", "/api/records/houses?limit=201", as: ada).status == 400)
            let byID = try await service.call("GET", "/api/records/houses?ids=\(Self.list(0..<200))", as: ada)
            #expect(byID.records.count == 200)
            let tooMany = try await service.call("GET", "/api/records/houses?ids=\(Self.list(0..<201))", as: ada)
            #expect(tooMany.status == 400)

            let changed = try await service.call("PATCH", "/api/records/houses", as: ada, Self.houses(0..<100))
            #expect(changed.status == 200 && changed.jsonArray?.count == 100)
            let unchanged = try await service.call("PATCH", "/api/records/houses", as: ada, Self.houses(0..<101))
            #expect(unchanged.status == 400 && unchanged.code == "too_many_records")
            let kept = try await service.call("DELETE", "/api/records/houses?ids=\(Self.list(0..<101))", as: ada)
            #expect(kept.status == 400)
            let gone = try await service.call("DELETE", "/api/records/houses?ids=\(Self.list(0..<100))", as: ada)
            #expect(gone.json["deleted"] as? Int == 100)
            #expect(try await service.ids("houses", as: ada).count == 200)
        }
    }

    @Test("where takes as many fields as there are indexes, and include eight; numbers beyond range are refused")
    func fields() async throws {
        let fields = (1...9).map { #""r\#($0)":{"type":"reference","to":"c"}"# }.joined(separator: ",")
        let schema = """
            {"collections":{"c":{"access":"private","indexes":["a","b","d","e"],
            "fields":{"a":{"type":"number"},"b":{"type":"string"},"d":{"type":"string"},"e":{"type":"string"},\(fields)}}}}
            """
        try await TestService.runWithSchema(schema) { service in
            let ada = try await service.addMember("ada")
            #expect(try await service.call("PUT", "/api/records/c/x", as: ada, #"{"data":{"a":1}}"#).status == 200)
            func list(_ query: String) async throws -> HTTPAnswer {
                try await service.call("GET", "/api/records/c?\(query)", as: ada)
            }
            func found(_ condition: String) async throws -> HTTPAnswer {
                try await list("where=\(PercentEncoding.string(of: condition))")
            }
            #expect(try await found(#"{"a":1,"b":null,"d":null,"e":null}"#).records.count == 1)
            #expect(try await found(#"{"a":1,"b":null,"d":null,"e":null,"f":null}"#).status == 400)
            #expect(try await found(#"{"a":1e99999999999999999999}"#).status == 400)
            #expect(try await found(#"{"b":"\u0000"}"#).status == 400)
            let names = (1...9).map { "r\($0)" }
            #expect(try await list("include=\(names.prefix(8).joined(separator: ","))").status == 200)
            #expect(try await list("include=\(names.joined(separator: ","))").status == 400)
        }
    }

    @Test("where has 4,096 characters, and include 1,024; not one more")
    func characters() async throws {
        let schema = """
            {"collections":{"c":{"access":"private","indexes":["a"],"fields":{"a":{"type":"string"},
            "r1":{"type":"reference","to":"c"},"r10":{"type":"reference","to":"c"}}}}}
            """
        try await TestService.runWithSchema(schema) { service in
            let ada = try await service.addMember("ada")
            // With the name and the quotes around it, 4,096 characters.
            let text = String(repeating: "x", count: 4_088)
            let body = #"{"data":{"a":"\#(text)"}}"#
            #expect(try await service.call("PUT", "/api/records/c/x", as: ada, body).status == 200)
            func list(_ name: String, _ value: String) async throws -> HTTPAnswer {
                let query = "\(name)=\(PercentEncoding.string(of: value))"
                return try await service.call("GET", "/api/records/c?\(query)", as: ada)
            }
            #expect(try await list("where", #"{"a":"\#(text)"}"#).records.count == 1)
            let longer = try await list("where", #"{"a":"\#(text)y"}"#)
            #expect(longer.status == 400 && longer.code == "where_too_long", "\(longer.text)")
            // The same field is named again and again.
            let names = ["r10", "r10"] + Array(repeating: "r1", count: 339)
            let most = names.joined(separator: ",")
            #expect(most.count == 1_024)
            #expect(try await list("include", most).status == 200)
            let more = try await list("include", Array(repeating: "r1", count: 342).joined(separator: ","))
            #expect(more.status == 400 && more.code == "include_too_long", "\(more.text)")
        }
    }

    @Test("A page ends after about a MiB, and the next one starts with the next record")
    func pageBytes() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let text = String(repeating: "x", count: 60_000)
            for number in 0..<40 {
                let body = #"{"id":"n\#(number)","data":{"title":"\#(text)"}}"#
                #expect(try await service.call("POST", "/api/records/news", as: ada, body).status == 200)
            }
            let wanted = (0..<40).map { "n\($0)" }
            for (order, expected) in [("created", wanted), ("-created", wanted.reversed())] {
                var (ids, after, sizes): ([String], String, [Int]) = ([], "", [])
                while true {
                    let page = try await service.call(
                        "GET",
                        "/api/records/news?limit=200&order=\(order)\(after)",
                        as: ada
                    )
                    let records = page.records.compactMap { $0["id"] as? String }
                    sizes.append(records.count)
                    ids += records
                    guard let next = page.json["next"] as? String, sizes.count < 40 else { break }
                    after = "&after=\(next)"
                }
                #expect(ids == expected, "\(order)")
                #expect(sizes.count == 3 && sizes[0] == 18, "\(sizes)")
            }
        }
    }

    @Test(
        "With several large conditions a page ends after 10,000 records and says so; the next ones are found all the same"
    )
    func lookedAt() async throws {
        let schema = """
            {"collections":{"c":{"access":"private","indexes":["a","b"],
            "fields":{"a":{"type":"string"},"b":{"type":"string"}}}}}
            """
        try await TestService.runWithSchema(schema) { service in
            let ada = try await service.addMember("ada")
            let first = try await service.call("PUT", "/api/records/c/first", as: ada, #"{"data":{"a":"x","b":"y"}}"#)
            #expect(first.status == 200)
            // Of each value as many records as are looked at in one call, none of which has both values.
            try await service.postgres.write(
                """
                WITH stream AS (SELECT id FROM streams WHERE user_id = \(ada.userID)),
                added AS (
                    INSERT INTO records (collection_id, id, owner_id, data, byte_count)
                    SELECT collection_id, 'r' || n, owner_id, '{"a":"x","b":"n"}', 17
                    FROM records, generate_series(1, 20002) AS n RETURNING key, collection_id
                ), granted AS (
                    INSERT INTO grants (stream_id, collection_id, record_key, rights)
                    SELECT stream.id, collection_id, key, 15 FROM added, stream
                )
                INSERT INTO record_index (stream_id, collection_id, field, value, record_key)
                SELECT stream.id, added.collection_id, field,
                    CASE WHEN (field = 'a') = (key % 2 = 0) THEN value ELSE value || 'n' END, key
                FROM added, stream, record_index WHERE record_index.stream_id = stream.id
                """
            )
            let last = try await service.call("PUT", "/api/records/c/last", as: ada, #"{"data":{"a":"x","b":"y"}}"#)
            #expect(last.status == 200)
            let condition = PercentEncoding.string(of: #"{"a":"x","b":"y"}"#)
            for order in ["created", "b"] {
                var (ids, after, limited): ([String], String, [Bool]) = ([], "", [])
                while limited.count < 5 {
                    let query = "where=\(condition)&order=\(order)&count=true\(after)"
                    let page = try await service.call("GET", "/api/records/c?\(query)", as: ada)
                    #expect(page.status == 200, "\(page.text)")
                    ids += page.records.compactMap { $0["id"] as? String }
                    limited.append(page.json["limited"] as? Bool ?? false)
                    #expect(page.json["count"] as? Int == 1 && page.json["count_limited"] as? Bool == true)
                    guard let next = page.json["next"] as? String else { break }
                    after = "&after=\(next)"
                }
                #expect(ids == ["first", "last"] && limited == [true, false], "\(order) \(ids) \(limited)")
            }
            // A value of few records is looked up first, and the page is never limited.
            _ = try await service.call("PATCH", "/api/records/c/last", as: ada, #"{"data":{"b":"z"}}"#)
            let few = PercentEncoding.string(of: #"{"a":"x","b":{">":"yn"}}"#)
            let page = try await service.call("GET", "/api/records/c?where=\(few)&order=-a&count=1", as: ada)
            #expect(page.records.map { $0["id"] as? String } == ["last"] && page.json["next"] is NSNull)
            #expect(page.json["limited"] == nil && page.json["count"] as? Int == 1)
        }
    }

    @Test("A record of 64 KiB may be three times as large as it is sent")
    func escapes() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            // Each is two bytes of UTF-8, and six as an escape.
            let escaped = String(repeating: #"\u0434"#, count: 32_000)
            let answer = try await service.call(
                "PUT",
                "/api/records/inbox/i",
                as: ada,
                #"{"data":{"t":"\#(escaped)"}}"#
            )
            #expect(answer.status == 200 && (answer.data["t"] as? String)?.count == 32_000)
        }
    }
}
