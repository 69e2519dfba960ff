import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

/// What somebody gets who had a right and has lost it: a grant without rights is left, unlike for who never had one.
@Suite("Rights that have ended", .timeLimit(.minutes(3)))
struct LostRightTests {
    private static let (thread, message) = ("/api/records/threads/t", "/api/records/messages/m")

    /// A thread and its message, both of Ada's, and Bob among the readers.
    private static func share(_ service: TestService, _ ada: TestMember, _ bob: TestMember) async throws {
        let body = #"{"data":{},"readers":["\#(bob.id)"]}"#
        #expect(try await service.call("PUT", thread, as: ada, body).status == 200)
        let text = #"{"data":{"threadId":"t","text":"x"}}"#
        #expect(try await service.call("PUT", message, as: ada, text).status == 200)
        #expect(try await service.ids("messages", as: bob) == ["m"])
    }

    private static let nobody = #"{"readers":[],"writers":[]}"#

    @Test("Neither an id nor a reference leads to the record, and a removed reader gets no new messages")
    func readers() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await Self.share(service, ada, bob)
            let included = "/api/records/threads?include=lastMessage"
            let before = try await service.call("GET", included, as: bob)
            #expect((before.json["included"] as? [Any])?.count == 1, "\(before.text)")
            #expect(try await service.call("PATCH", Self.message, as: ada, Self.nobody).status == 200)
            #expect(try await service.ids("messages", as: bob, query: "&ids=m").isEmpty)
            #expect(try await service.ids("messages", as: bob).isEmpty)
            #expect(try await service.call("GET", Self.message, as: bob).status == 404)
            let after = try await service.call("GET", included, as: bob)
            #expect((after.json["included"] as? [Any])?.isEmpty == true && after.records.count == 1, "\(after.text)")
            // Bob is taken off the thread, too.
            #expect(try await service.call("PATCH", Self.thread, as: ada, Self.nobody).status == 200)
            let next = #"{"data":{"threadId":"t","text":"y"}}"#
            let sent = try await service.call("PUT", "/api/records/messages/next", as: ada, next)
            #expect(sent.status == 200 && sent.json["readers"] as? [String] == [], "\(sent.text)")
            #expect(try await service.ids("messages", as: bob).isEmpty)
            try await service.expectSoundStreams()
        }
    }

    @Test("Records that a disabled or former member could refer to or include are no longer included")
    func roles() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            #expect(
                try await service.call("PUT", "/api/records/priorities/p", as: ada, #"{"data":{"name":"P"}}"#).status
                    == 200
            )
            let bug = #"{"data":{"title":"b","priority":"p"}}"#
            #expect(try await service.call("PUT", "/api/records/bugs/b", as: ada, bug).status == 200)
            #expect(try await service.ids("bugs", as: ada, query: "&ids=b") == ["b"])
            try await service.postgres.write("UPDATE roles SET disabled_at = now() WHERE name = 'team'")
            for query in ["", "?ids=b", "?include=priority"] {
                #expect(try await service.call("GET", "/api/records/bugs\(query)", as: ada).status == 404, "\(query)")
            }
            #expect(try await service.call("GET", "/api/records/bugs/b", as: ada).status == 404)
        }
    }

    @Test("Adding a removed reader again counts as a send each time")
    func namedAgain() async throws {
        let settings = ["RATE_LIMITS": "on", "RATE_LIMIT_INBOX_SENDS_PER_USER": "2/10m", "TRUSTED_PROXIES": "1"]
        try await TestService.runWithSchema(settings: settings) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let named = #"{"data":{},"readers":["\#(bob.id)"]}"#
            for expected in [200, 200, 429] {
                #expect(try await service.call("PUT", Self.thread, as: ada, named).status == expected)
                #expect(try await service.call("PATCH", Self.thread, as: ada, Self.nobody).status == 200)
            }
        }
    }

    /// The URL that a member gets for the photo of the message.
    private static func url(_ service: TestService, for member: TestMember) async throws -> String {
        let answer = try await service.call("GET", message, as: member)
        return try #require((answer.json["photos"] as? [String: String])?["picture"])
    }

    @Test("The photo of a record that has ended by itself is not opened any more, even before the record is removed")
    func expired() async throws {
        try await TestService.runWithSchema(adjust: { $0.doesNothingByItself() }) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await Self.share(service, ada, bob)
            let photo = try await service.uploadPhoto(token: ada.token)
            let shown = #"{"data":{"picture":"\#(photo)"}}"#
            #expect(try await service.call("PATCH", Self.message, as: ada, shown).status == 200)
            let url = try await Self.url(service, for: bob)
            #expect(try await service.send("GET", url).status == 200)
            try await service.postgres.write(
                "UPDATE records SET expires_at = now() AT TIME ZONE 'UTC' - interval '1 second' WHERE id = 'm'"
            )
            #expect(try await service.send("GET", url).status == 403)
            // It was not removed, so nothing else refuses.
            let there = try await service.count("SELECT count(*) FROM records WHERE id = 'm' AND deleted_at IS NULL")
            #expect(there == 1)
            try await service.postgres.write("UPDATE records SET expires_at = NULL WHERE id = 'm'")
            #expect(try await service.send("GET", url).status == 200)
        }
    }

    @Test("URLs of others' photos end for a reader who is disabled or ends all sessions")
    func photos() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await Self.share(service, ada, bob)
            let photo = try await service.uploadPhoto(token: ada.token)
            let shown = #"{"data":{"picture":"\#(photo)"}}"#
            #expect(try await service.call("PATCH", Self.message, as: ada, shown).status == 200)
            let (adas, bobs) = (try await Self.url(service, for: ada), try await Self.url(service, for: bob))
            #expect(try await service.send("GET", bobs).status == 200)
            try await service.postgres.write("UPDATE users SET disabled_at = now() WHERE id = \(bob.userID)")
            #expect(try await service.send("GET", bobs).status == 403)
            try await service.postgres.write("UPDATE users SET disabled_at = NULL WHERE id = \(bob.userID)")
            #expect(try await service.send("GET", bobs).status == 200)
            #expect(try await service.call("POST", "/api/clear_token?all=true", as: bob).status == 200)
            #expect(try await service.send("GET", bobs).status == 403)
            #expect(try await service.send("GET", adas).status == 200)
        }
    }

    @Test("So do URLs of pictures, each of which is for one reader")
    func pictures() async throws {
        let settings = ["RATE_LIMITS": "off", "DIRECTORY": "members"]
        try await TestService.runWithSchema(settings: settings) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let photo = try await service.uploadPhoto(token: ada.token)
            #expect(try await service.call("PATCH", "/api/me", as: ada, #"{"picture":"\#(photo)"}"#).status == 200)
            let seen = try await service.call("GET", "/api/members/\(ada.id)", as: bob)
            let url = try #require(seen.json["picture"] as? String)
            #expect(url.contains(bob.id))
            #expect(try await service.send("GET", url).status == 200)
            #expect(try await service.send("GET", url.replacing(bob.id, with: ada.id)).status == 403)
            try await service.postgres.write("UPDATE users SET disabled_at = now() WHERE id = \(bob.userID)")
            #expect(try await service.send("GET", url).status == 403)
        }
    }
}
