import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

extension AppFlowTests {
    @Test("Bug tracker: six tables of one file, a role's members, one and many")
    func bugTracker() async throws {
        try await TestService.runTwoWithSchema { first, second in
            let ada = try await first.addMember("ada", role: "team")
            let bob = try await first.addMember("bob", role: "team")
            let eve = try await first.addMember("eve")
            for (path, data) in [
                ("components/ui", #"{"name":"UI"}"#), ("severities/s1", #"{"name":"Severe","rank":1}"#),
                ("priorities/high", #"{"name":"High","rank":1}"#), ("statuses/open", #"{"name":"Open"}"#),
            ] {
                let made = try await second.call("PUT", "/api/records/\(path)", as: bob, #"{"data":\#(data)}"#)
                #expect(made.status == 200, "\(made.text)")
            }
            func bugs(_ numbers: ClosedRange<Int>, wrong: Int? = nil) -> String {
                let bugs = numbers.map { number in
                    let title = number == wrong ? "7" : #""Bug \#(number)""#
                    let links = #""component":"ui","severity":"s1","priority":"high","status":"open""#
                    let assigned = number % 2 == 0 ? ada.id : bob.id
                    return #"{"id":"b\#(number)","data":{"title":\#(title),\#(links),"assignedUser":"\#(assigned)"}}"#
                }
                return "[\(bugs.joined(separator: ","))]"
            }
            let none = try await first.call("POST", "/api/records/bugs", as: ada, bugs(1...100, wrong: 57))
            #expect(none.status == 400 && none.message?.contains("title") == true, "\(none.text)")
            #expect(try await second.ids("bugs", as: bob).isEmpty)
            let all = try await first.call("POST", "/api/records/bugs", as: ada, bugs(1...100))
            #expect(all.status == 200 && all.jsonArray?.count == 100)
            let mine = "&where=\(#"{"assignedUser":"\#(ada.id)"}"#.formEncoded)"
            #expect(try await second.ids("bugs", as: bob, query: mine) == (1...50).map { "b\(2 * $0)" })

            #expect(
                try await second.call("PATCH", "/api/records/bugs/b1", as: bob, #"{"data":{"points":3}}"#).status == 200
            )
            let many = try await first.call(
                "PATCH",
                "/api/records/bugs",
                as: bob,
                #"[{"id":"b2","data":{"archived":true}},{"id":"b3","data":{"points":5}}]"#
            )
            #expect(many.status == 200 && many.jsonArray?.count == 2)
            #expect(try await first.call("GET", "/api/records/bugs/b1", as: ada).data["points"] as? Int == 3)
            #expect(try await second.call("DELETE", "/api/records/bugs/b4", as: ada).status == 200)
            let deleted = try await second.call("DELETE", "/api/records/bugs?ids=b5,b6", as: ada)
            #expect(deleted.json["deleted"] as? Int == 2)
            let notHers = try await first.call("DELETE", "/api/records/bugs?ids=b7,b8", as: bob)
            #expect(notHers.status == 403)
            #expect(try await second.ids("bugs", as: bob).count == 97)

            let used = try await second.call("DELETE", "/api/records/priorities/high", as: bob)
            #expect(used.status == 409 && used.code == "record_referred_to")
            let wrong = try await first.call(
                "POST",
                "/api/records/bugs",
                as: ada,
                #"{"data":{"title":7,"points":"many"}}"#
            )
            #expect(wrong.status == 400)
            #expect(wrong.message?.contains("title") == true && wrong.message?.contains("points") == true)

            let paths = ["/api/records/bugs/b1", "/api/records/priorities/high"]
            try await Self.expectNothing(paths, second, as: eve)
            try await Self.expectNothing(["/api/records/bugs"], second, as: eve, methods: ["GET"])
            try await first.postgres.write("UPDATE roles SET disabled_at = now() WHERE name = 'team'")
            for service in [first, second] {
                try await Self.expectNothing(paths, service, as: ada)
                try await Self.expectNothing(["/api/records/bugs"], service, as: ada, methods: ["GET"])
            }
            try await first.postgres.write("UPDATE roles SET disabled_at = NULL WHERE name = 'team'")
            #expect(try await second.ids("bugs", as: ada).count == 97)
            try await first.expectSoundStreams()
        }
    }
}
