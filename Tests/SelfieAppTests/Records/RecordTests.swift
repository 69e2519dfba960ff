import ConnectionTestSupport
import Encodings
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Records", .timeLimit(.minutes(3)))
struct RecordTests {
    @Test("100 records come in a call, all or none; many are changed and deleted alike")
    func batches() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let bugs = (0..<100).map { #"{"id":"b\#($0)","data":{"title":"Bug \#($0)","points":\#($0)}}"# }
            let wrong = bugs.dropLast() + [#"{"data":{"title":7,"points":"x","other":1}}"#]
            let refused = try await service.call(
                "POST",
                "/api/records/bugs",
                as: ada,
                "[\(wrong.joined(separator: ","))]"
            )
            #expect(refused.status == 400 && refused.code == "record_invalid")
            for part in [
                "record 99: ", "title - must be a string,", "points - must be an integer,", "other - is unknown,",
            ] {
                #expect(refused.message?.contains(part) == true, "\(part) \(refused.text)")
            }
            #expect(try await service.ids("bugs", as: ada).isEmpty)
            let made = try await service.call(
                "POST",
                "/api/records/bugs",
                as: ada,
                "[\(bugs.joined(separator: ","))]"
            )
            #expect(made.status == 200 && made.jsonArray?.count == 100)
            #expect(try await service.ids("bugs", as: ada) == (0..<100).map { "b\($0)" })
            let tooMany = try await service.call(
                "POST",
                "/api/records/bugs",
                as: ada,
                "[\((0...100).map { _ in #"{"data":{"title":"x"}}"# }.joined(separator: ","))]"
            )
            #expect(tooMany.status == 400 && tooMany.code == "too_many_records")

            let changed = try await service.call(
                "PATCH",
                "/api/records/bugs",
                as: ada,
                #"[{"id":"b1","data":{"points":null}},{"id":"b2","data":{"title":"New"}}]"#
            )
            #expect(changed.status == 200 && changed.jsonArray?.count == 2, "\(changed.text)")
            let halfGone = try await service.call(
                "PATCH",
                "/api/records/bugs",
                as: ada,
                #"[{"id":"b1","data":{"points":5}},{"id":"gone","data":{"title":"New"}}]"#
            )
            #expect(halfGone.status == 404)
            let one = try await service.call("GET", "/api/records/bugs/b1", as: ada)
            #expect(one.data["points"] == nil && one.json["version"] as? Int == 2)
            let missing = try await service.call("DELETE", "/api/records/bugs?ids=b3,gone", as: ada)
            #expect(missing.status == 404)
            let deleted = try await service.call("DELETE", "/api/records/bugs?ids=b3,b4", as: ada)
            #expect(deleted.json["deleted"] as? Int == 2)
            #expect(try await service.ids("bugs", as: ada).count == 98)
            for query in ["", "?ids=", "?ids=a,,b", "?ids=a%20b"] {
                #expect(try await service.call("DELETE", "/api/records/bugs\(query)", as: ada).status == 400)
            }
            try await service.expectSoundStreams()
        }
    }

    @Test("PUT replaces data and leaves omitted members unchanged; versions guard against lost changes")
    func versions() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let path = "/api/records/houses/h1"
            let none = try await service.call(
                "PUT",
                path,
                as: ada,
                #"{"data":{"address":"a"}}"#,
                headers: [("If-Match", "\"1\"")]
            )
            #expect(none.status == 404 && none.code == "record_not_found")
            let future = "2999-01-01T00:00:00.250Z"
            let made = try await service.call(
                "PUT",
                path,
                as: ada,
                #"{"data":{"address":"a","comment":"b"},"expires_at":"\#(future)"}"#,
                headers: [("If-None-Match", "*")]
            )
            #expect(made.status == 200 && made.json["expires_at"] as? String == future, "\(made.text)")
            let again = try await service.call(
                "PUT",
                path,
                as: ada,
                #"{"data":{"address":"a"}}"#,
                headers: [("If-None-Match", "*")]
            )
            #expect(again.status == 412)
            let replaced = try await service.call(
                "PUT",
                path,
                as: ada,
                #"{"data":{"address":"c"}}"#,
                headers: [("If-Match", "\"1\"")]
            )
            #expect(replaced.data.count == 1 && replaced.json["expires_at"] as? String == future)
            let read = try await service.call("GET", path, as: ada)
            #expect(read.json["expires_at"] as? String == future && read.headers["etag"] == "\"2\"")
            let same = try await service.call("GET", path, as: ada, headers: [("If-None-Match", "\"2\"")])
            #expect(same.status == 304)
            for (method, body) in [("PATCH", #"{"data":{}}"#), ("DELETE", nil)] {
                let old = try await service.call(method, path, as: ada, body, headers: [("If-Match", "\"1\"")])
                #expect(old.status == 412)
            }
            let kept = try await service.call("PATCH", path, as: ada, #"{"expires_at":null}"#)
            #expect(kept.json["expires_at"] is NSNull && kept.data["address"] as? String == "c")
            for time in ["\"2020-01-01T00:00:00Z\"", "\"tomorrow\"", "5"] {
                #expect(try await service.call("PATCH", path, as: ada, #"{"expires_at":\#(time)}"#).status == 400)
            }
        }
    }

    @Test("20 parallel changes with the same version: one succeeds")
    func parallelChanges() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            _ = try await service.call("PUT", "/api/records/houses/h", as: ada, #"{"data":{"address":"a"}}"#)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 0..<20 {
                    tasks.addTask {
                        try await service.call(
                            "PATCH",
                            "/api/records/houses/h",
                            as: ada,
                            #"{"data":{"comment":"\#(number)"}}"#,
                            headers: [("If-Match", "\"1\"")]
                        ).status
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 1 && statuses.count { $0 == 412 } == 19)
            // Without a version, each is applied.
            let ids = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for number in 0..<20 {
                    tasks.addTask {
                        try await service.call(
                            "PUT",
                            "/api/records/houses/n\(number % 2)",
                            as: ada,
                            #"{"data":{"address":"a"}}"#
                        )
                        .status
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(ids.allSatisfy { $0 == 200 })
            #expect(try await Set(service.ids("houses", as: ada)) == ["h", "n0", "n1"])
            try await service.expectSoundStreams()
        }
    }

    @Test("where, order, ids and pages")
    func lists() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await service.addMember("bob", role: "team")
            for status in ["open", "done"] {
                _ = try await service.call("PUT", "/api/records/statuses/\(status)", as: ada, #"{"data":{"name":"x"}}"#)
            }
            let bugs = (0..<30).map { number in
                let owner = number % 3 == 0 ? #","assignedUser":"\#(bob.id)""# : ""
                return
                    #"{"id":"b\#(number)","data":{"title":"x","status":"\#(number % 2 == 0 ? "open" : "done")"\#(owner)}}"#
            }
            let made = try await service.call("POST", "/api/records/bugs", as: ada, "[\(bugs.joined(separator: ","))]")
            #expect(made.status == 200, "\(made.text)")
            func found(_ condition: String) async throws -> [String] {
                try await service.ids("bugs", as: bob, query: "&where=\(condition.formEncoded)")
            }
            let all = (0..<30).map { "b\($0)" }
            let third = all.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
            #expect(try await found(#"{"assignedUser":"\#(bob.id)"}"#) == third)
            #expect(try await found(#"{"assignedUser":null}"#) == all.filter { !third.contains($0) })
            #expect(
                try await found(#"{"assignedUser":"\#(bob.id)","status":"open"}"#)
                    == all.enumerated().filter { $0.offset % 6 == 0 }.map(\.element)
            )
            #expect(try await found(#"{"status":"nothing"}"#).isEmpty)
            #expect(try await service.ids("bugs", as: bob, query: "&order=-created") == all.reversed())
            let some = try await service.call("GET", "/api/records/bugs?ids=b7,b3,gone", as: bob)
            #expect(some.records.compactMap { $0["id"] as? String } == ["b3", "b7"])
            let (missing, message) = (
                try await service.call("GET", "/api/records/bugs?where=%7B%22title%22:%22x%22%7D", as: bob),
                "where, order - the collection has no index of title"
            )
            #expect(missing.status == 400 && missing.code == "index_missing" && missing.message == message)
            let bad = [
                "where=5", "where=%7B", "where=%7B%22status%22:%5B%5D%7D", "limit=0", "limit=201", "limit=x", "order=x",
                "after=gone", "after=%00", "after=b9,1", "after=b9,x", "after=b9,1,1", "ids=%2F",
                "ids=a&where=%7B%22status%22:1%7D", "include=",
            ]
            for query in bad {
                let answer = try await service.call("GET", "/api/records/bugs?\(query)", as: bob)
                #expect(answer.status == 400, "\(query) \(answer.text)")
            }
            // The next page resumes there, even if that record is deleted now.
            let first = try await service.call("GET", "/api/records/bugs?limit=10", as: bob)
            let next = try #require(first.json["next"] as? String)
            #expect(next.hasPrefix("b9,"))
            #expect(try await service.call("DELETE", "/api/records/bugs/b9", as: ada).status == 200)
            for after in [next, "b9"] {
                let second = try await service.call("GET", "/api/records/bugs?limit=10&after=\(after)", as: bob)
                #expect(second.records.first?["id"] as? String == "b10")
            }
            // Another record of the same id is at the end, and the next page resumes where the first one was.
            _ = try await service.call("PUT", "/api/records/bugs/b9", as: ada, #"{"data":{"title":"x"}}"#)
            let going = try await service.call("GET", "/api/records/bugs?limit=10&after=\(next)", as: bob)
            #expect(going.records.first?["id"] as? String == "b10")
            let last = try await service.call("GET", "/api/records/bugs?after=b9", as: bob)
            #expect(last.records.isEmpty && last.json["next"] is NSNull)
            // Changed values move in the index.
            _ = try await service.call("PATCH", "/api/records/bugs/b0", as: bob, #"{"data":{"status":"done"}}"#)
            #expect(try await found(#"{"status":"open"}"#).contains("b0") == false)
            #expect(try await found(#"{"status":"done"}"#).contains("b0"))
            try await service.expectSoundStreams()
        }
    }

    @Test("An expired record is 404 at once, and its id is free again")
    func expiry() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let made = try await service.call(
                "PUT",
                "/api/records/houses/h",
                as: ada,
                #"{"data":{"address":"a"},"expires_at":"2999-01-01T00:00:00Z"}"#
            )
            #expect(made.status == 200)
            try await service.postgres.write(
                "UPDATE records SET expires_at = now() AT TIME ZONE 'UTC' - interval '1 second'"
            )
            #expect(try await service.call("GET", "/api/records/houses/h", as: ada).status == 404)
            #expect(try await service.ids("houses", as: ada).isEmpty)
            #expect(try await service.call("PATCH", "/api/records/houses/h", as: ada, #"{"data":{}}"#).status == 404)
            let again = try await service.call("PUT", "/api/records/houses/h", as: ada, #"{"data":{"address":"b"}}"#)
            #expect(again.status == 200 && again.json["version"] as? Int == 3, "\(again.text)")
            try await service.expectSoundStreams()
        }
    }
}
