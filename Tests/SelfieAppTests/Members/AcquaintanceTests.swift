import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Members whom one meets in records", .timeLimit(.minutes(2)))
struct AcquaintanceTests {
    private static let schema = #"""
        {"roles":{"team":{},"guests":{}},"collections":{"inbox":{"access":"inbox"},"threads":{"access":"acl"},
        "houses":{"access":"private"},"news":{"access":"published"},
        "bugs":{"access":"shared","role":"team","readers":"guests"}}}
        """#

    /// Runs a body with a service without a directory, and nine members.
    private static func run(
        _ body: @Sendable (TestService, _ member: (String) -> TestMember) async throws -> Void
    ) async throws {
        let settings = ["DIRECTORY": "", "RATE_LIMITS": "off"]
        try await TestService.runWithSchema(schema, settings: settings) { service in
            var members: [String: TestMember] = [:]
            for name in ["ada", "bob", "cleo", "dan", "eve", "finn", "gus", "hal", "ivy"] {
                members[name] = try await service.addMember(name)
            }
            for name in ["finn", "gus"] { try await service.add(members[name]?.userID ?? 0, to: "team") }
            try await service.add(members["hal"]?.userID ?? 0, to: "guests")
            let all = members
            try await body(service) { all[$0] ?? TestMember(name: "", token: "", id: "") }
        }
    }

    private static func put(_ path: String, _ body: String, _ service: TestService, as member: TestMember) async throws
    {
        let answer = try await service.call("PUT", path, as: member, body)
        #expect(answer.status == 200, "\(answer.text)")
    }

    private static func knows(_ one: TestMember, _ other: TestMember, _ service: TestService) async throws -> Bool {
        let answer = try await service.call("GET", "/api/members/\(other.id)", as: one)
        #expect(answer.status == 200 || answer.status == 404 && answer.code == "member_not_found", "\(answer.text)")
        return answer.status == 200
    }

    @Test("Who has sent me a message is known until it is deleted; I am not known to the sender")
    func sender() async throws {
        try await Self.run { service, member in
            let (ada, bob) = (member("ada"), member("bob"))
            #expect(try await !Self.knows(ada, bob, service))
            try await Self.put("/api/members/\(ada.id)/records/inbox/m", #"{"data":{}}"#, service, as: bob)
            #expect(try await Self.knows(ada, bob, service))
            #expect(try await !Self.knows(bob, ada, service))
            #expect(try await !Self.knows(member("cleo"), bob, service))
            try await service.postgres.write("UPDATE records SET expires_at = now() - interval '1 day'")
            #expect(try await !Self.knows(ada, bob, service))
            try await service.postgres.write("UPDATE records SET expires_at = NULL")
            #expect(try await Self.knows(ada, bob, service))
            #expect(try await service.call("DELETE", "/api/records/inbox/m", as: ada).status == 200)
            #expect(try await !Self.knows(ada, bob, service))
        }
    }

    @Test("Those who own, write and read a thread know each other while they can read it, and nobody else does")
    func readers() async throws {
        try await Self.run { service, member in
            let (ada, bob, cleo, dan) = (member("ada"), member("bob"), member("cleo"), member("dan"))
            let body = #"{"data":{},"readers":["\#(bob.id)"],"writers":["\#(cleo.id)"]}"#
            try await Self.put("/api/records/threads/t", body, service, as: ada)
            let three = [ada, bob, cleo]
            for one in three {
                for other in three { #expect(try await Self.knows(one, other, service), "\(one.name) \(other.name)") }
                #expect(try await [Self.knows(one, dan, service), Self.knows(dan, one, service)] == [false, false])
            }
            try await service.postgres.write("UPDATE records SET expires_at = now() - interval '1 day'")
            #expect(try await [Self.knows(ada, bob, service), Self.knows(bob, ada, service)] == [false, false])
            try await service.postgres.write("UPDATE records SET expires_at = NULL")
            #expect(try await service.call("DELETE", "/api/records/threads/t", as: bob).status == 200)
            #expect(try await [Self.knows(bob, ada, service), Self.knows(bob, cleo, service)] == [false, false])
            #expect(try await [Self.knows(ada, bob, service), Self.knows(ada, cleo, service)] == [false, true])
            #expect(try await service.call("DELETE", "/api/records/threads/t", as: ada).status == 200)
            #expect(try await !Self.knows(cleo, ada, service))
        }
    }

    @Test("Members of roles that read the same records know each other once there is one; of news, its owner is known")
    func roles() async throws {
        try await Self.run { service, member in
            let (eve, finn, gus, hal, ivy) = (
                member("eve"), member("finn"), member("gus"), member("hal"), member("ivy")
            )
            #expect(try await !Self.knows(finn, gus, service))
            try await Self.put("/api/records/bugs/b", #"{"data":{}}"#, service, as: finn)
            for (one, other) in [(finn, gus), (gus, finn), (gus, hal), (hal, gus), (hal, finn)] {
                #expect(try await Self.knows(one, other, service), "\(one.name) \(other.name)")
            }
            #expect(try await [Self.knows(finn, ivy, service), Self.knows(ivy, finn, service)] == [false, false])
            try await Self.put("/api/records/houses/h", #"{"data":{}}"#, service, as: eve)
            #expect(try await !Self.knows(ivy, eve, service))
            try await Self.put("/api/records/news/n", #"{"data":{}}"#, service, as: eve)
            #expect(try await [Self.knows(ivy, eve, service), Self.knows(eve, ivy, service)] == [true, false])
            try await service.postgres.write("UPDATE roles SET disabled_at = now() WHERE name = 'guests'")
            #expect(try await [Self.knows(hal, gus, service), Self.knows(gus, hal, service)] == [false, false])
            try await service.postgres.write("UPDATE users SET disabled_at = now() WHERE id = \(finn.userID)")
            #expect(try await !Self.knows(gus, finn, service))
        }
    }

    @Test("Names, title and picture are told, and neither the e-mail nor free fields; of oneself all is")
    func contents() async throws {
        try await Self.run { service, member in
            let (ada, bob) = (member("ada"), member("bob"))
            let photo = try await service.uploadUnlisted(as: bob).id
            let profile = #"{"title":"Boss","shows_email":true,"fields":{"phone":"5"},"picture":"\#(photo)"}"#
            #expect(try await service.call("PATCH", "/api/me", as: bob, profile).status == 200)
            try await Self.put("/api/members/\(ada.id)/records/inbox/m", #"{"data":{}}"#, service, as: bob)
            let seen = try await service.call("GET", "/api/members/\(bob.id)", as: ada)
            #expect(seen.json["title"] as? String == "Boss" && seen.json["email"] == nil, "\(seen.text)")
            #expect((seen.json["fields"] as? [String: Any])?.isEmpty == true)
            let url = try #require(seen.json["picture"] as? String)
            #expect(try await service.send("GET", url).body == TestImage.jpeg)
            let own = try await service.call("GET", "/api/members/\(bob.id)", as: bob)
            #expect((own.json["fields"] as? [String: String])?["phone"] == "5")
            for id in ["x", "", "%00", "not-a-member"] where !id.isEmpty {
                #expect(try await service.call("GET", "/api/members/\(id)", as: ada).status == 404)
            }
        }
    }
}
