import ConnectionTestSupport
import DatabaseTestSupport
import Encodings
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Lists by range and by order", .timeLimit(.minutes(3)))
struct RecordListTests {
    private static let schema = #"""
        {"collections": {"notes": {"access": "acl", "indexes": ["points", "title", "updated_at", "created_at"],
            "open": true, "fields": {"points": {"type": "integer"}, "title": {"type": "string"}}},
         "flags": {"access": "private", "indexes": ["on", "at"],
            "fields": {"on": {"type": "boolean"}, "at": {"type": "timestamp"}, "updated_at": {"type": "string"}}}}}
        """#

    @Test(
        "120 random lists of a random schema at two processes, beside writers, are as the model says",
        arguments: [1, 2]
    )
    func model(seed: Int) async throws {
        try await TestService.runTwoWithSchema { first, second in
            _ = try await ListModelRun(recordCount: 50, queryCount: 120).run(seed: seed, at: [first, second])
        }
    }

    @Test("Each record that stays is in each list once, while 8 writers insert, move and delete others")
    func shifting() async throws {
        #expect(try await ShiftingLists(time: .seconds(2)).run() >= 4)
    }

    private static func list(_ query: String, _ service: TestService, as member: TestMember) async throws -> [String] {
        try await service.ids("notes", as: member, query: "&" + query)
    }

    private static func path(_ condition: String, in collection: String = "notes", order: String = "created") -> String
    {
        "/api/records/\(collection)?order=\(order)&where=\(PercentEncoding.string(of: condition))"
    }

    @Test("Times of records can be asked for and ordered by, and follow each change")
    func times() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            for id in ["a", "b", "c"] {
                let body = #"{"data":{"points":1},"readers":["\#(bob.id)"]}"#
                _ = try await service.call("PUT", "/api/records/notes/\(id)", as: ada, body)
            }
            #expect(try await Self.list("order=-updated_at", service, as: bob) == ["c", "b", "a"])
            let changed = try await service.call("PATCH", "/api/records/notes/a", as: ada, #"{"data":{"points":2}}"#)
            let time = try #require(changed.json["updated_at"] as? String)
            #expect(try await Self.list("order=-updated_at", service, as: bob) == ["a", "c", "b"])
            #expect(try await Self.list("order=-created_at", service, as: bob) == ["c", "b", "a"])
            let since = Self.path(#"{"updated_at":{">=":"\#(time)"}}"#)
            #expect(try await service.call("GET", since, as: bob).records.map { $0["id"] as? String } == ["a"])
            let later = Self.path(#"{"updated_at":{">":"\#(time)"}}"#)
            #expect(try await service.call("GET", later, as: bob).records.isEmpty)
            // New rules leave the times as they are.
            try await service.apply(Self.schema.replacing(#""title", "upd"#, with: #""upd"#))
            #expect(try await Self.list("order=-updated_at", service, as: bob) == ["a", "c", "b"])
            #expect(try await service.call("GET", since, as: bob).records.map { $0["id"] as? String } == ["a"])
        }
    }

    @Test("A field comes before a time of the same name")
    func ownField() async throws {
        try await TestService.runWithSchema(Self.schema.replacing(#""on", "at""#, with: #""on", "updated_at""#)) {
            service in
            let ada = try await service.addMember("ada")
            let body = #"{"data":{"updated_at":"yesterday"}}"#
            #expect(try await service.call("PUT", "/api/records/flags/f", as: ada, body).status == 200)
            let found = try await service.call(
                "GET",
                Self.path(#"{"updated_at":{"prefix":"yes"}}"#, in: "flags"),
                as: ada
            )
            #expect(found.records.count == 1)
        }
    }

    @Test("What can't be asked for is refused, and the message says why")
    func refused() async throws {
        let cases = [
            (#"{"points":{">":"x"}}"#, "created", "where_invalid", "points - must be an integer"),
            (#"{"points":{">":null}}"#, "created", "where_invalid", "points - can't be compared so"),
            (#"{"points":{"prefix":"1"}}"#, "created", "where_invalid", "points - can't be compared so"),
            (#"{"points":{"like":1}}"#, "created", "where_invalid", "points - takes one of = > >= < <= in prefix"),
            (#"{"points":{"in":[]}}"#, "created", "where_invalid", "in takes an array of 1 to 20 values"),
            (
                #"{"points":{"in":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]}}"#, "created",
                "where_invalid",
                "in takes an array of 1 to 20 values"
            ),
            (#"{"points":{"in":[[1]]}}"#, "created", "where_invalid", "takes no arrays and objects as values"),
            (#"{"points":{"in":[1],">":0}}"#, "created", "where_invalid", "or two comparisons"),
            (#"{"points":[1]}"#, "created", "where_invalid", "takes no array; use in"),
            (#"{"points":{"=":1e999}}"#, "created", "where_invalid", "a value that no record can have"),
            (#"{"points":{">":1e999}}"#, "created", "where_invalid", "a value that no record can have"),
            (#"{"title":{"prefix":5}}"#, "created", "where_invalid", "prefix takes a text"),
            (#"{"other":{">":5}}"#, "created", "index_missing", "no index of other"),
            ("{}", "other", "index_missing", "no index of other"), ("{}", "-", "order_invalid", "order - is invalid"),
            ("{}", "a%2Cb", "order_invalid", "order - is invalid"),
        ]
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            for (condition, order, code, message) in cases {
                let answer = try await service.call("GET", Self.path(condition, order: order), as: ada)
                #expect(answer.status == 400 && answer.code == code, "\(answer.text)")
                #expect(answer.message?.contains(message) == true, "\(answer.text)")
            }
        }
    }

    @Test("A position belongs to its order, and survives that its record is changed or deleted")
    func positions() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            for number in 0..<6 {
                let body = #"{"data":{"points":\#(number / 2),"title":"t"}}"#
                _ = try await service.call("PUT", "/api/records/notes/n\(number)", as: ada, body)
            }
            let page = try await service.call("GET", "/api/records/notes?order=-points&limit=3", as: ada)
            #expect(page.records.map { $0["id"] as? String } == ["n5", "n4", "n3"])
            let next = try #require(page.json["next"] as? String)
            for order in ["points", "-title", "created"] {
                let other = try await service.call("GET", "/api/records/notes?order=\(order)&after=\(next)", as: ada)
                #expect(other.status == 400 && other.code == "after_invalid", "\(order)")
            }
            let plain = try await service.call("GET", "/api/records/notes?order=-points&after=n3", as: ada)
            #expect(plain.status == 400 && plain.code == "after_invalid")
            let rest = ["n2", "n1", "n0"]
            #expect(try await Self.list("order=-points&after=\(next)", service, as: ada) == rest)
            _ = try await service.call("PATCH", "/api/records/notes/n3", as: ada, #"{"data":{"points":-5}}"#)
            #expect(try await Self.list("order=-points&after=\(next)", service, as: ada) == rest + ["n3"])
            _ = try await service.call("DELETE", "/api/records/notes/n3", as: ada)
            #expect(try await Self.list("order=-points&after=\(next)", service, as: ada) == rest)
        }
    }

    @Test("Records that have expired leave no page empty while there are more")
    func expired() async throws {
        try await TestService.runWithSchema(Self.schema) { service in
            let ada = try await service.addMember("ada")
            let notes = (0..<40).map { #"{"id":"n\#($0)","data":{"points":\#($0)}}"# }.joined(separator: ",")
            #expect(try await service.call("POST", "/api/records/notes", as: ada, "[\(notes)]").status == 200)
            try await service.postgres.write(
                "UPDATE records SET expires_at = now() - interval '1 day' WHERE id < 'n30'"
            )
            for order in ["created", "points"] {
                let page = try await service.call(
                    "GET",
                    "/api/records/notes?order=\(order)&limit=5&count=true",
                    as: ada
                )
                let ids = page.records.compactMap { $0["id"] as? String }
                #expect(ids == ["n4", "n5", "n6", "n7", "n8"] && page.json["count"] as? Int == 16, "\(ids)")
            }
        }
    }

    @Test("A record is read with what it refers to, as far as its reader may see it")
    func include() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            _ = try await service.call(
                "PUT",
                "/api/records/threads/t",
                as: ada,
                #"{"data":{"value":1},"readers":["\#(bob.id)"]}"#
            )
            let body = #"{"data":{"threadId":"t","text":"hello"},"readers":["\#(bob.id)"]}"#
            _ = try await service.call("PUT", "/api/records/messages/m", as: ada, body)
            let path = "/api/records/messages/m?include=threadId"
            let read = try await service.call("GET", path, as: bob)
            #expect(read.json["id"] as? String == "m" && read.headers["etag"] == "\"1\"")
            #expect((read.json["included"] as? [[String: Any]])?.map { $0["id"] as? String } == ["t"])
            // What it refers to may change without it.
            let again = try await service.send(
                "GET",
                path,
                headers: [("Authorization", "Token \(bob.token)"), ("If-None-Match", "\"1\"")]
            )
            #expect(again.status == 200)
            _ = try await service.call("PUT", "/api/records/threads/t", as: ada, #"{"data":{"value":1},"readers":[]}"#)
            let hidden = try await service.call("GET", path, as: bob)
            #expect((hidden.json["included"] as? [Any])?.isEmpty == true)
            let wrong = try await service.call("GET", "/api/records/messages/m?include=text", as: bob)
            #expect(wrong.status == 400 && wrong.code == "include_no_reference")
            let plain = try await service.call("GET", "/api/records/messages/m", as: bob)
            #expect(plain.json["included"] == nil)
        }
    }
}
