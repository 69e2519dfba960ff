import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Records of apps that were made for DreamFactory", .timeLimit(.minutes(2)))
struct DreamFactoryRecordTests {
    /// Runs a service with the bug tracker's schema and twelve bugs.
    private static func run(
        settings: [String: String] = ["RATE_LIMITS": "off"],
        _ body: @Sendable (TestService, TestMember) async throws -> Void
    ) async throws {
        try await TestService.runWithSchema(try TestService.bugTracker, settings: settings) { service in
            let ada = try await service.addMember("ada")
            for table in ["priorities", "statuses"] {
                let list = (1...3).map { #"{"name":"n\#($0)","rank":\#($0)}"# }.joined(separator: ",")
                #expect(
                    try await service.rest("POST", "/db/\(table)", as: ada, #"{"record":[\#(list)]}"#).status == 200
                )
            }
            let bugs = (1...12).map { number in
                #"{"title":"Bug \#(number)","points":\#(number % 4),"status":\#(number % 3 + 1),"priority":1}"#
            }
            let body0 = #"{"record":[\#(bugs.joined(separator: ","))]}"#
            #expect(try await service.rest("POST", "/db/records", as: ada, body0).rowIDs == Array(1...12))
            try await body(service, ada)
        }
    }

    @Test("Lists take ids, filters, limits, offsets, orders and fields")
    func lists() async throws {
        try await Self.run { service, ada in
            func ids(_ query: String) async throws -> [Int] {
                let answer = try await service.rest("GET", "/db/records?\(query)", as: ada)
                #expect(answer.status == 200, "\(query): \(answer.text)")
                return answer.rowIDs
            }
            #expect(try await ids("ids=3,1,99,1") == [1, 3])
            #expect(try await ids("filter=status%3D1") == [3, 6, 9, 12])
            #expect(try await ids("filter=\("(status = '1') AND (points >= 1)".formEncoded)") == [3, 6, 9])
            #expect(try await ids("filter=\("points > 0 AND points < 3".formEncoded)") == [1, 2, 5, 6, 9, 10])
            #expect(
                try await ids("filter=\("points IN (2,3)".formEncoded)&order=points%20DESC") == [11, 7, 3, 10, 6, 2]
            )
            #expect(try await ids("filter=\("assignedUser IS NULL".formEncoded)&limit=2") == [1, 2])
            #expect(try await ids("filter=\("id IN (2,5)".formEncoded)") == [2, 5])
            #expect(try await ids("filter=id%3D'7'") == [7])
            #expect(try await ids("order=id%20desc&limit=3&offset=2") == [10, 9, 8])
            #expect(try await ids("order=points&limit=4&offset=1") == [8, 12, 1, 5])
            #expect(try await ids("filter=points%3D1&offset=2") == [9])
            #expect(try await ids("filter=\("points IN (1,2)".formEncoded)&offset=3&limit=2") == [6, 9])
            #expect(try await ids("ids=1,2,3,4&offset=1&limit=2") == [2, 3])
            #expect(try await ids("offset=12") == [])
            #expect(try await ids("offset=500&order=points") == [])
            let counted = try await service.rest(
                "GET",
                "/db/records?include_count=true&limit=5&offset=5&fields=title",
                as: ada
            )
            #expect(counted.rowIDs == Array(6...10))
            let meta = counted.json["meta"] as? [String: Int]
            #expect(meta == ["count": 12, "next": 10])
            #expect(counted.rows[0].keys.sorted() == ["id", "title"])
            #expect(try await service.rest("GET", "/db/records", as: ada).json["meta"] == nil)
            let one = try await service.rest("GET", "/db/records/5?fields=points,title,nothing", as: ada)
            #expect(one.text == #"{"id":5,"title":"Bug 5","points":1}"#)
        }
    }

    @Test("All of a list of up to a thousand comes at once")
    func long() async throws {
        try await Self.run { service, ada in
            for start in stride(from: 13, to: 1_013, by: 100) {
                let bugs = (start..<start + 100).map { #"{"title":"Bug \#($0)","points":9}"# }.joined(separator: ",")
                #expect(try await service.rest("POST", "/db/records", as: ada, #"{"record":[\#(bugs)]}"#).status == 200)
            }
            let all = try await service.rest("GET", "/db/records?fields=id", as: ada)
            #expect(all.rowIDs == Array(1...1_000))
            #expect(all.json["meta"] as? [String: Int] == ["next": 1_000])
            let rest = try await service.rest("GET", "/db/records?fields=id&offset=1000", as: ada)
            #expect(rest.rowIDs == Array(1_001...1_012))
            #expect(rest.json["meta"] == nil)
            let nine = try await service.rest("GET", "/db/records?fields=id&filter=points%3D9&offset=999", as: ada)
            #expect(nine.rowIDs == [1_012])
        }
    }

    @Test("Related records come with theirs, by DreamFactory's names")
    func related() async throws {
        try await Self.run { service, ada in
            for text in ["first", "second"] {
                let message = #"{"record":5,"text":"\#(text)"}"#
                #expect(try await service.rest("POST", "/db/messages", as: ada, message).status == 200)
            }
            let all = try await service.rest("GET", "/db/records/5?related=*", as: ada)
            #expect((all.json["status_by_status"] as? [String: Any])?["id"] as? Int == 3)
            #expect(all.json["component_by_component"] is NSNull)
            let messages = try #require(all.json["messages_by_record"] as? [[String: Any]])
            #expect(messages.map { $0["text"] as? String } == ["first", "second"])
            #expect(messages.map { $0["record"] as? Int } == [5, 5])
            let list = try await service.rest(
                "GET",
                "/db/records?ids=4,5&related=messages_by_record&fields=id",
                as: ada
            )
            #expect(list.rows.map { ($0["messages_by_record"] as? [Any])?.count } == [0, 2])
            let back = try await service.rest("GET", "/db/messages?related=record_by_record&fields=text", as: ada)
            #expect(
                back.rows.map { ($0["record_by_record"] as? [String: Any])?["title"] as? String } == ["Bug 5", "Bug 5"]
            )
            for (method, body) in [("PATCH", #"{"status":2}"#), ("DELETE", nil)] {
                let changed = try await service.rest(method, "/db/records/5?related=status_by_status", as: ada, body)
                #expect(changed.status == 400 && changed.message?.hasPrefix("related - is for reading alone") == true)
                let nothing = try await service.rest(method, "/db/records/6?related=&fields=&filter=", as: ada, body)
                #expect(nothing.text == #"{"id":6}"#, "\(nothing.text)")
            }
            let many = try await service.rest("GET", "/db/statuses?related=records_by_status&fields=id", as: ada)
            #expect(many.rows.map { ($0["records_by_status"] as? [Any])?.count } == [3, 4, 4])
            let unknown = try await service.rest("GET", "/db/records?related=status_by_priority", as: ada)
            #expect(unknown.status == 400)
            #expect(unknown.message == "related - status_by_priority is no relation of records,")
            #expect(
                try await service.rest("POST", "/db/severities", as: ada, #"{"name":"Crash"}"#).text == #"{"id":1}"#
            )
            let unindexed = try await service.rest("GET", "/db/severities?related=records_by_severity", as: ada)
            #expect(unindexed.message == "filter, order - the collection has no index of severity")
            let all1 = try await service.rest("GET", "/db/severities?related=*", as: ada)
            #expect(all1.rows.map { $0.keys.sorted() } == [["id", "name", "rank"]])
        }
    }

    @Test("Records are changed and deleted by ids, by filters and by lists: all, or none")
    func changes() async throws {
        try await Self.run { service, ada in
            func points(_ ids: String) async throws -> [Int?] {
                try await service.rest("GET", "/db/records?ids=\(ids)", as: ada).rows.map { $0["points"] as? Int }
            }
            let byIDs = try await service.rest("PATCH", "/db/records?ids=1,2", as: ada, #"{"points":"50"}"#)
            #expect(byIDs.text == #"{"record":[{"id":1},{"id":2}]}"#)
            #expect(try await points("1,2,3") == [50, 50, 3])
            let byFilter = try await service.rest(
                "PUT",
                "/db/records?filter=points%3D3&fields=points",
                as: ada,
                #"{"record":[{"points":60}]}"#
            )
            #expect(byFilter.rowIDs == [3, 7, 11], "\(byFilter.text)")
            #expect(byFilter.rows.map { $0["points"] as? Int } == [60, 60, 60])
            let ofList = try await service.rest(
                "PATCH",
                "/db/records",
                as: ada,
                #"{"record":[{"id":4,"points":70},{"id":99,"points":70}]}"#
            )
            #expect(ofList.status == 404)
            #expect(ofList.message == "record 1: There is no such record")
            #expect(try await points("4") == [0])
            #expect(try await service.rest("PATCH", "/db/records?ids=4,99", as: ada, #"{"points":7}"#).status == 404)
            #expect(try await points("4") == [0])
            let emptied = try await service.rest("PATCH", "/db/records/4?fields=points", as: ada, #"{"points":null}"#)
            #expect(emptied.text == #"{"id":4,"points":null}"#)

            #expect(try await service.rest("DELETE", "/db/records?ids=4,99", as: ada).status == 404)
            let none = try await service.rest("DELETE", "/db/records?force=true", as: ada)
            #expect(none.status == 400)
            let found = try await service.rest("DELETE", "/db/records?filter=points%3D60&fields=title", as: ada)
            #expect(found.rows.map { $0["title"] as? String } == ["Bug 3", "Bug 7", "Bug 11"])
            #expect(
                try await service.rest("DELETE", "/db/records?filter=points%3D60", as: ada).text == #"{"record":[]}"#
            )
            let listed = try await service.rest("DELETE", "/db/records", as: ada, #"{"record":[{"id":1},{"id":"2"}]}"#)
            #expect(listed.rowIDs == [1, 2])
            let byBody = try await service.rest("DELETE", "/db/records", as: ada, #"{"ids":[5,"6"]}"#)
            #expect(byBody.rowIDs == [5, 6])
            #expect(try await service.rest("GET", "/db/records", as: ada).rowIDs == [4, 8, 9, 10, 12])
        }
    }

    @Test("A POST may stand for another method, and say in its body what a query says")
    func tunnelled() async throws {
        try await Self.run { service, ada in
            let get = [("X-HTTP-METHOD", "GET")]
            let body = #"{"filter":"points = 1","order":"id DESC","limit":2,"fields":"title"}"#
            let list = try await service.rest("POST", "/db/records", as: ada, body, headers: get)
            #expect(list.rowIDs == [9, 5], "\(list.text)")
            let refreshed = try await service.rest(
                "POST",
                "/db/records?fields=id",
                as: ada,
                #"{"record":[{"id":3},{"id":1}]}"#,
                headers: get
            )
            #expect(refreshed.rowIDs == [1, 3])
            let merge = [
                ("X-HTTP-Method", "MERGE"), ("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8"),
            ]
            let changed = try await service.rest("POST", "/db/records/3", as: ada, #"{"points":8}"#, headers: merge)
            #expect(changed.text == #"{"id":3}"#)
            let gone = try await service.rest("POST", "/db/records/3", as: ada, headers: [("X-HTTP-METHOD", "DELETE")])
            #expect(gone.text == #"{"id":3}"#)
            #expect(try await service.rest("GET", "/db/records/3", as: ada).status == 404)
        }
    }

    @Test("What is not there is refused by its name, in DreamFactory's form")
    func refused() async throws {
        try await Self.run { service, ada in
            let cases: [(String, String, String?, Int, String)] = [
                ("GET", "/db/records?filter=points%3D1%20OR%20points%3D2", nil, 400, "filter - OR is not supported"),
                (
                    "GET", "/db/records?filter=title%3D'x'", nil, 400,
                    "filter, order - the collection has no index of title"
                ),
                ("GET", "/db/records?filter=points%3D'x'", nil, 400, "filter: points - must be an integer,"),
                (
                    "GET", "/db/records?filter=points%3D1%20AND%20points%3D2", nil, 400,
                    "filter - points twice with = is not"
                ),
                ("GET", "/db/records?filter=points%3E1%20AND%20points%3D2", nil, 400, "filter: points - takes one of"),
                ("GET", "/db/records?filter=id%3E1", nil, 400, "filter - id with >, or with other conditions is not"),
                ("GET", "/db/records?filter=id%3D1%20AND%20points%3D1", nil, 400, "filter - id with =, or with other"),
                ("GET", "/db/records?filter=points%3D1&ids=1", nil, 400, "filter - ids together with filter is not"),
                ("GET", "/db/records?order=points,status", nil, 400, "order - is invalid"),
                ("GET", "/db/records?order=points%20UP", nil, 400, "order - is invalid"),
                ("GET", "/db/records?order=title", nil, 400, "filter, order - the collection has no index of title"),
                ("GET", "/db/records?limit=-1", nil, 400, "limit - is invalid"),
                ("GET", "/db/records?offset=10001", nil, 400, "offset - is invalid"),
                ("GET", "/db/records?format=xml", nil, 400, "format - is invalid (json)"),
                ("GET", "/db/records?id_field=points", nil, 400, "id_field - is invalid (id)"),
                ("DELETE", "/db/records?ids=5&id_field=points", nil, 400, "id_field - is invalid (id)"),
                ("DELETE", "/db/records?ids=5", #"{"record":[{"id":6}]}"#, 400, "filter - ids or filter together with"),
                ("PATCH", "/db/records?ids=5", #"{"id":6,"points":1}"#, 400, "filter - ids or filter together with"),
                ("DELETE", "/db/records", #"{"filter":["a"]}"#, 400, "filter - is invalid"),
                ("DELETE", "/db/records", #"{"ids":{}}"#, 400, "ids - is invalid"),
                (
                    "POST", "/db/records?related=status_by_status", #"{"title":"x"}"#, 400,
                    "related - is for reading alone"
                ),
                ("GET", "/db/records?ids=1,,2", nil, 400, "An id has 1 to 255"),
                ("GET", "/db/records?related=nothing", nil, 400, "related - nothing is no relation of records,"),
                ("GET", "/db/nothing", nil, 404, "There is no such collection"),
                ("GET", "/db/nothing/1", nil, 404, "There is no such collection"),
                ("GET", "/db/records/99", nil, 404, "There is no such record"),
                ("GET", "/db", nil, 404, "Wrong URL or HTTP method"),
                ("PUT", "/user/session", "{}", 405, "This URL does not support this HTTP method"),
                ("POST", "/db/records", #"{"record":[]}"#, 400, "required parameters are missing"),
                ("POST", "/db/records", "", 400, "required parameters are missing"),
                ("POST", "/db/records", "<record/>", 415, "The request's body must be JSON"),
                ("POST", "/db/records", "{", 400, "The request's JSON is malformed"),
                ("POST", "/db/records", "5", 400, "The request's JSON must be an object"),
                ("POST", "/db/records", #"{"record":[5]}"#, 400, "The request's JSON must be an object"),
                ("POST", "/db/records", #"{"points":1}"#, 400, "title - is missing,"),
                (
                    "POST", "/db/records", #"{"title":"x","status":99}"#, 400,
                    "status - does not exist, or you may not use it,"
                ),
                ("POST", "/db/records", #"{"title":"x","more":1}"#, 400, "more - is unknown,"),
                (
                    "POST", "/db/records", #"{"title":"x","status_by_status":{"id":1}}"#, 400,
                    "status_by_status - is unknown,"
                ),
                ("POST", "/db/records", #"{"id":3,"title":"x"}"#, 409, "There is a record with this id"),
                ("POST", "/db/records", #"{"id":"x","title":"x"}"#, 400, "An id in this collection is a whole number"),
                ("POST", "/db/records", #"{"id":{},"title":"x"}"#, 400, "An id has 1 to 255"),
                (
                    "POST", "/db/records?continue=true", #"{"title":"x"}"#, 400,
                    "continue - is invalid (false: all records"
                ),
                ("PATCH", "/db/records/3", #"{"id":4,"points":1}"#, 400, "id - differs from the path,"),
                ("PATCH", "/db/records", #"{"points":1}"#, 400, "id - is missing,"),
                (
                    "PATCH", "/db/records/3", #"{"record":[{"points":1},{"points":2}]}"#, 400,
                    "A call takes at most 100 records"
                ),
                ("DELETE", "/db/records", #"{"record":[{"points":1}]}"#, 400, "An id has 1 to 255"),
                ("DELETE", "/db/records", nil, 400, "required parameters are missing"),
                ("DELETE", "/db/statuses/1", nil, 409, "Another record refers to the record"),
            ]
            let before = try await service.count("SELECT count(*) FROM records")
            for (method, target, body, status, message) in cases {
                let answer = try await service.rest(method, target, as: ada, body)
                let name = "\(method) \(target) \(body ?? ""): \(answer.text)"
                #expect(answer.status == status, "\(name)")
                #expect(answer.message?.hasPrefix(message) == true, "\(name)")
                let errors = answer.json["error"] as? [[String: Any]]
                #expect(errors?.count == 1 && errors?[0]["code"] as? Int == status && answer.json.count == 1, "\(name)")
            }
            #expect(try await service.count("SELECT count(*) FROM records") == before)
            let many = (1...101).map { #"{"title":"\#($0)"}"# }.joined(separator: ",")
            #expect(try await service.rest("POST", "/db/records", as: ada, #"{"record":[\#(many)]}"#).status == 400)
            let large = String(repeating: " ", count: 2 << 20) + #"{"title":"x"}"#
            #expect(try await service.rest("POST", "/db/records", as: ada, large).status == 413)
            let justFits = #"{"title":"x"}"# + String(repeating: " ", count: (2 << 20) - 13)
            #expect(try await service.rest("POST", "/db/records", as: ada, justFits).text == #"{"id":13}"#)
        }
    }

    @Test("Nobody learns of more than by the API's own calls")
    func strangers() async throws {
        try await Self.run { service, ada in
            let eve = try await service.addMember("eve")
            try await service.postgres.write("DELETE FROM role_members WHERE user_id = \(eve.userID)")
            let calls: [(String, String, String?)] = [
                ("GET", "/db/records", nil), ("GET", "/db/records?filter=title%3D'x'", nil),
                ("GET", "/db/records?related=nothing", nil), ("GET", "/db/records/1", nil),
                ("POST", "/db/records", #"{"title":"x"}"#), ("PATCH", "/db/records/1", #"{"points":1}"#),
                ("PATCH", "/db/records?filter=points%3D1", #"{"points":1}"#), ("DELETE", "/db/records/1", nil),
                ("DELETE", "/db/records?filter=points%3D1", nil),
            ]
            for (method, target, body) in calls {
                let answer = try await service.rest(method, target, as: eve, body)
                #expect(
                    answer.text == #"{"error":[{"message":"There is no such collection","code":404}]}"#,
                    "\(method) \(target)"
                )
                let headers = body == nil ? [] : [("Content-Type", "application/json")]
                // Only the one header counts.
                let bearer = headers + [("Authorization", "Bearer \(ada.token)")]
                let stranger = try await service.send(
                    method,
                    "/rest\(target)",
                    headers: bearer,
                    body: body.map { Data($0.utf8) }
                )
                #expect(stranger.status == 401, "\(method) \(target)")
            }
            // What a list shows with its records, its reader may see.
            try await service.apply(
                try TestService.bugTracker.replacing(
                    #""statuses": {"#,
                    with: #"""
                        "notes": {"access": "private", "indexes": ["bug"], "fields": {"bug": {"type": "reference", "to": "records"}}},
                        "audit": {"access": "shared", "role": "leads", "indexes": ["bug"],
                            "fields": {"bug": {"type": "reference", "to": "records"}}},
                        "statuses": {
                        """#
                )
            )
            let bob = try await service.addMember("bob", role: "leads")
            for table in ["notes", "audit"] {
                #expect(try await service.rest("POST", "/db/\(table)", as: bob, #"{"bug":1}"#).status == 200)
            }
            func related(_ member: TestMember) async throws -> [String: Int] {
                let answer = try await service.rest("GET", "/db/records/1?related=*&fields=id", as: member)
                return answer.json.compactMapValues { ($0 as? [Any])?.count }
            }
            let counts = [try await related(ada), try await related(bob)]
            let own = ["messages_by_record": 0, "notes_by_bug": 0]
            #expect(counts == [own, ["messages_by_record": 0, "notes_by_bug": 1, "audit_by_bug": 1]])
            for name in ["audit_by_bug", "nothing_by_bug"] {
                let answer = try await service.rest("GET", "/db/records/1?related=\(name)", as: ada)
                #expect(answer.message == "related - \(name) is no relation of records,", "\(answer.text)")
            }
        }
    }

    @Test("A session reads and writes as many at once as iOS opens connections")
    func parallel() async throws {
        try await Self.run { service, ada in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...3 {
                    group.addTask { try await service.rest("GET", "/db/records", as: ada).status }
                    group.addTask {
                        try await service.rest("PATCH", "/db/records/\(number)", as: ada, #"{"points":1}"#).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 6))
        }
    }

    @Test("A change by a filter leaves out nobody's change meanwhile")
    func races() async throws {
        try await Self.run { service, ada in
            // Each call moves all bugs of a value. None may be moved twice, or be lost.
            let start = try await service.count("SELECT count(*) FROM records WHERE data->>'points' = '1'")
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        let answer = try await service.rest(
                            "PATCH",
                            "/db/records?filter=points%3D1",
                            as: ada,
                            #"{"points":100}"#
                        )
                        #expect([200, 412].contains(answer.status), "\(answer.text)")
                        return answer.rows.count
                    }
                }
                let moved = try await group.reduce(0, +)
                #expect(moved == start)
            }
            #expect(try await service.rest("GET", "/db/records?filter=points%3D100", as: ada).rows.count == start)
        }
    }
}
