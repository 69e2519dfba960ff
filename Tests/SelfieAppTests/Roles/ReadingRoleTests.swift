import ConnectionTestSupport
import DatabaseTestSupport
import Encodings
import Foundation
import Postgres
import RecordSchema
import SelfieOperations
import SelfieRecords
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Roles that fit", .timeLimit(.minutes(3)))
struct ReadingRoleTests {
    private static func schema(
        _ roles: String = #""team":{},"guests":{}"#,
        bugs: String = #","readers":"guests""#
    ) -> String {
        #"""
        {"roles":{\#(roles)},"collections":{"threads":{"access":"acl"},"bugs":{"access":"shared","role":"team"\#(bugs),"indexes":["title"],
        "fields":{"title":{"type":"string"},"photo":{"type":"photo"}}}}}
        """#
    }

    private static func put(_ id: String, _ title: String, _ service: TestService, as member: TestMember) async throws {
        let answer = try await service.call(
            "PUT",
            "/api/records/bugs/\(id)",
            as: member,
            #"{"data":{"title":"\#(title)"}}"#
        )
        #expect(answer.status == 200, "\(answer.text)")
    }

    @Test("Members of a role that only reads list, read and follow, and change nothing")
    func readers() async throws {
        try await TestService.runWithSchema(Self.schema()) { service in
            let ada = try await service.addMember("ada", role: "team")
            let guest = try await service.addMember("guest", role: "guests")
            let stranger = try await service.addMember("stranger")
            let start = try await service.changes("?since=now", as: guest).cursor
            try await Self.put("b1", "one", service, as: ada)
            try await Self.put("b2", "two", service, as: ada)
            #expect(try await service.ids("bugs", as: guest) == ["b1", "b2"])
            let condition = PercentEncoding.string(of: #"{"title":{"prefix":"tw"}}"#)
            #expect(try await service.ids("bugs", as: guest, query: "&where=\(condition)&order=-title") == ["b2"])
            #expect(try await service.call("GET", "/api/records/bugs/b1", as: guest).data["title"] as? String == "one")
            let told = try await service.changes("?since=\(start)", as: guest).summaries
            #expect(told == ["created bugs b1", "created bugs b2"])
            let body = #"{"data":{"title":"mine"}}"#
            for (method, path, body) in [
                ("PUT", "bugs/b1", body), ("PATCH", "bugs/b1", body), ("DELETE", "bugs/b1", nil),
                ("PUT", "bugs/b3", body),
                ("POST", "bugs", body), ("DELETE", "bugs?ids=b1,b2", nil),
            ] {
                let answer = try await service.call(method, "/api/records/\(path)", as: guest, body)
                #expect(answer.status == 403 && answer.code == "record_forbidden", "\(method) \(path) \(answer.text)")
                let hidden = try await service.call(method, "/api/records/\(path)", as: stranger, body)
                #expect(hidden.status == 404 && hidden.code == "collection_not_found", "\(method) \(path)")
            }
            try await service.postgres.write("UPDATE roles SET disabled_at = now() WHERE name = 'guests'")
            #expect(try await service.call("GET", "/api/records/bugs", as: guest).status == 404)
            #expect(try await service.call("GET", "/api/records/bugs/b1", as: guest).status == 404)
            try await service.expectSoundStreams()
        }
    }

    @Test("Who has both roles is told of each change once, by the feed, by events and by push")
    func both() async throws {
        try await TestService.runWithSchema(Self.schema()) { service in
            let ada = try await service.addMember("ada", role: "team")
            let both = try await service.addMember("both", role: "team")
            try await service.add(both.userID, to: "guests")
            let guest = try await service.addMember("guest", role: "guests")
            for (number, member) in [both, guest].enumerated() {
                try await service.register(number, as: member)
                try await service.subscribe(
                    "bugs",
                    as: member,
                    #"{"collection":"bugs","on":["created"],"alert":"A bug"}"#
                )
            }
            let start = try await service.changes("?since=now", as: both).cursor
            async let waiting = service.changes("?since=\(start)&wait=20", as: both)
            try await Self.put("b1", "one", service, as: ada)
            for answer in [try await waiting, try await service.changes("?since=\(start)", as: both)] {
                #expect(
                    answer.summaries == ["created bugs b1"] && answer.json["more"] as? Bool == false,
                    "\(answer.text)"
                )
            }
            #expect(try await service.changes("?since=\(start)&limit=1", as: both).json["more"] as? Bool == false)
            let pushes = try await service.pushes()
            #expect(pushes.map(\.device).sorted() == [0, 1].map(TestService.deviceToken))
            #expect(try await service.ids("bugs", as: both) == ["b1"])
            try await EventClient.open(service, as: both, "?since=now") { client in
                #expect(try await client.summaries(until: "synced") == ["synced "])
                // Two streams have no order, but the second one of each bug would come before long.
                var seen: [String] = []
                for number in 2...5 {
                    try await Self.put("b\(number)", "more", service, as: ada)
                    seen += try await client.summaries(until: "created bugs b\(number)")
                    try await service.put("threads/t\(number)", as: both, #"{"data":{}}"#)
                    seen += try await client.summaries(until: "created threads t\(number)")
                }
                #expect(seen.filter { $0.contains("bugs") } == (2...5).map { "created bugs b\($0)" }, "\(seen)")
            }
            _ = try await service.call("DELETE", "/api/records/bugs/b1", as: ada)
            let summaries = try await service.changes("?since=\(start)", as: both).summaries
            #expect(summaries.filter { $0.contains("b1") }.count <= 1)
            #expect(try await service.ids("bugs", as: both) == (2...5).map { "b\($0)" })
        }
    }

    @Test("A former member who only reads now has no rights as an owner")
    func formerMember() async throws {
        try await TestService.runWithSchema(Self.schema()) { service in
            let ada = try await service.addMember("ada", role: "team")
            try await Self.put("b1", "one", service, as: ada)
            try await service.postgres.write("DELETE FROM role_members")
            try await service.add(ada.userID, to: "guests")
            #expect(try await service.ids("bugs", as: ada) == ["b1"])
            #expect(try await service.call("DELETE", "/api/records/bugs/b1", as: ada).status == 403)
        }
    }

    @Test("With delete: members, all members of the role delete; without it, they don't")
    func membersDelete() async throws {
        try await TestService.runWithSchema(Self.schema(bugs: "")) { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await service.addMember("bob", role: "team")
            try await Self.put("b1", "one", service, as: ada)
            try await Self.put("b2", "two", service, as: ada)
            #expect(try await service.call("DELETE", "/api/records/bugs/b1", as: bob).status == 403)
            try await service.apply(Self.schema(bugs: #","delete":"members""#))
            #expect(try await service.call("DELETE", "/api/records/bugs/b1", as: bob).status == 200)
            try await Self.put("b3", "three", service, as: ada)
            #expect(try await service.call("DELETE", "/api/records/bugs?ids=b2,b3", as: bob).status == 200)
            try await Self.put("b4", "four", service, as: ada)
            try await service.apply(Self.schema(bugs: ""))
            #expect(try await service.call("DELETE", "/api/records/bugs/b4", as: bob).status == 403)
            try await service.expectSoundStreams()
        }
    }

    @Test("A default role is given to each new user, also beyond its usual limit, and to no other")
    func defaultRole() async throws {
        let all = #""team":{"default":true},"guests":{}"#
        try await TestService.runWithSchema(Self.schema(all)) { service in
            #expect(try await service.signUp(email: "ada@example.com").status == 200)
            let first = try await service.count(
                "SELECT count(*) FROM role_members JOIN roles ON id = role_id WHERE name = 'team'"
            )
            #expect(first == 1)
            let bob = try await service.addMember("bob")
            #expect(try await service.call("GET", "/api/records/bugs", as: bob).status == 200)
            try await service.apply(Self.schema())
            let eve = try await service.addMember("eve")
            #expect(try await service.call("GET", "/api/records/bugs", as: eve).status == 404)
            #expect(try await service.call("GET", "/api/records/bugs", as: bob).status == 200)
            try await service.apply(Self.schema(all))
            #expect(try await service.call("GET", "/api/records/bugs", as: eve).status == 404)
            try await service.postgres.write(
                """
                INSERT INTO users (first_name, last_name, email, password_hash)
                SELECT '', '', 'many' || n || '@example.com', '' FROM generate_series(1, \(RoleStore.maxMemberCount)) AS n
                """
            )
            let count = try await service.count("SELECT count(*) FROM role_members")
            #expect(count == RoleStore.maxMemberCount + 2)
        }
    }

    @Test("What shows records to more people says to how many, and needs to be forced")
    func widening() async throws {
        try await TestService.runWithSchema(Self.schema(bugs: "")) { service in
            let ada = try await service.addMember("ada", role: "team")
            for name in ["g1", "g2"] { _ = try await service.addMember(name, role: "guests") }
            try await service.add(ada.userID, to: "guests")
            try await Self.put("b1", "one", service, as: ada)
            func preview(_ text: String) async throws -> (text: String, mustConfirm: Bool) {
                let preview = try await ApplySchema(postgres: service.postgres)
                    .preview(Schema(file: Array(text.utf8)))
                return (preview.text, preview.needsConfirmation)
            }
            let readers = try await preview(Self.schema())
            #expect(
                readers.text
                    == "  shows more: change the access of bugs from shared, role team to shared, role team, readers guests "
                    + "(1 record to 2 more people)\n" && readers.mustConfirm
            )
            let all = try await preview(Self.schema(#""team":{"default":true},"guests":{}"#, bugs: ""))
            #expect(all.text.contains("give the role team to each new user\n"))
            #expect(
                all.text.contains("shows more: show bugs to each new user (1 record to each new user)")
                    && all.mustConfirm
            )
            // Who manages a role can give it to themselves.
            let managed = try await preview(
                Self.schema(#""team":{},"guests":{"default":true,"manages":["team"]}"#, bugs: "")
            )
            #expect(managed.text.contains("shows more: show bugs to each new user") && managed.mustConfirm)
            let delete = try await preview(Self.schema(bugs: #","delete":"members""#))
            #expect(delete.text == "  let all members of the role delete records of bugs\n" && !delete.mustConfirm)
        }
    }
}
