import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("What subscriptions tell", .timeLimit(.minutes(2)))
struct ToldChangeTests {
    /// A push in short: its kind, the record, the subscription and the device.
    private static func brief(_ pushes: [TestPush]) -> Set<String> {
        Set(pushes.map { "\($0.kind) \($0.id) \($0.subscription) \(Int($0.device, radix: 16) ?? -1)" })
    }

    @Test("A device is told of what another one of its user does, and not of its own")
    func devices() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let tablet = try await service.addSecondSession(of: ada)
            try await service.register(1, as: ada)
            try await service.register(2, as: tablet)
            let body =
                #"{"collection":"houses","on":["created","updated","deleted"],"alert":"A house","sound":"default"}"#
            try await service.subscribe("all", as: ada, body)
            try await service.subscribe("made", as: ada, #"{"collection":"houses","on":["created"],"silent":true}"#)
            let path = "/api/records/houses/h"
            _ = try await service.call("PUT", path, as: ada, #"{"data":{"address":"a"}}"#)
            #expect(Self.brief(try await service.pushes()) == ["created h all 2", "created h made 2"])
            _ = try await service.call("PATCH", path, as: tablet, #"{"data":{"address":"b"}}"#)
            _ = try await service.call("DELETE", path, as: tablet)
            let pushes = try await service.pushes()
            // A record that is gone is told of as deleted alone.
            #expect(
                Self.brief(pushes).subtracting(["updated h all 1"]) == [
                    "created h all 2", "created h made 2", "deleted h all 1",
                ]
            )
            #expect(pushes.allSatisfy { $0.alert == ($0.subscription == "all" ? "A house" : nil) })
            let silent = try #require(pushes.first { $0.subscription == "made" })
            #expect(
                silent.text.contains(#""content-available":1"#)
                    && silent.text.contains(#""apns-push-type":"background""#)
            )
            // Photos, in the same way.
            try await service.subscribe(
                "pictures",
                as: ada,
                #"{"collection":"photos","on":["created","deleted"],"badge":true}"#
            )
            let photo = try await service.upload(token: ada.token).json["random_id"] as? String ?? ""
            #expect(try await service.delete(photo, token: tablet.token).status == 200)
            let later = try await service.pushes().filter { $0.subscription == "pictures" }
            #expect(
                Set(Self.brief(later)).isSubset(of: ["created \(photo) pictures 2", "deleted \(photo) pictures 1"])
            )
            #expect(
                Self.brief(later).contains("deleted \(photo) pictures 1")
                    && later.allSatisfy { $0.collection == "photos" }
            )
        }
    }

    @Test("With where, what begins to fit is created, and what ends to fit is deleted; once tells once")
    func filters() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await service.addMember("bob", role: "team")
            try await service.register(1, as: bob)
            let rule = #""collection":"bugs","on":["created","updated","deleted"],"alert":"a""#
            try await service.subscribe("mine", as: bob, #"{\#(rule),"where":{"assignedUser":"\#(bob.id)"}}"#)
            try await service.subscribe(
                "once",
                as: bob,
                #"{\#(rule),"where":{"assignedUser":"\#(bob.id)"},"once":true}"#
            )
            try await service.subscribe("nobody", as: bob, #"{\#(rule),"where":{"assignedUser":null,"status":null}}"#)
            let path = "/api/records/bugs/b"
            func write(_ method: String, _ data: String) async throws -> Set<String> {
                let before = Self.brief(try await service.pushes())
                let answer = try await service.call(method, path, as: ada, #"{"data":\#(data)}"#)
                #expect(answer.status == 200, "\(answer.text)")
                return Self.brief(try await service.pushes()).subtracting(before)
            }
            #expect(try await write("PUT", #"{"title":"a"}"#) == ["created b nobody 1"])
            #expect(
                try await write("PATCH", #"{"assignedUser":"\#(bob.id)"}"#)
                    == ["deleted b nobody 1", "created b mine 1", "created b once 1"]
            )
            #expect(try await write("PATCH", #"{"title":"b"}"#) == ["updated b mine 1"])
            #expect(try await write("PATCH", #"{"assignedUser":"\#(ada.id)"}"#) == ["deleted b mine 1"])
            let fired = try await service.call("GET", "/api/subscriptions/once", as: bob)
            #expect(fired.json["fired_at"] is String)
        }
    }

    @Test("Access that is given is created, access that is lost is deleted; blocked and foreign changes are not told")
    func access() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await service.register(1, as: bob)
            let body = #"{"collection":"threads","on":["created","updated","deleted"],"alert":"a"}"#
            try await service.subscribe("t", as: bob, body)
            let path = "/api/records/threads/t"
            func write(_ body: String) async throws -> Set<String> {
                let before = Self.brief(try await service.pushes())
                #expect(try await service.call("PUT", path, as: ada, body).status == 200)
                return Self.brief(try await service.pushes()).subtracting(before)
            }
            #expect(try await write(#"{"data":{}}"#).isEmpty)
            #expect(try await write(#"{"data":{},"readers":["\#(bob.id)"]}"#) == ["created t t 1"])
            #expect(try await write(#"{"data":{"a":1}}"#) == ["updated t t 1"])
            #expect(try await write(#"{"data":{},"readers":[]}"#) == ["deleted t t 1"])
            #expect(try await write(#"{"data":{"a":2}}"#).isEmpty)
            #expect(try await write(#"{"data":{},"readers":["\#(bob.id)"]}"#).isEmpty)
            #expect(try await service.pushes().count { $0.kind == "created" } == 2)
            #expect(try await service.call("PUT", "/api/blocks/\(ada.id)", as: bob).status == 200)
            #expect(try await write(#"{"data":{"a":3}}"#).isEmpty)
        }
    }

    @Test("Whoever loses the right before a change is spread out hears nothing")
    func lostBefore() async throws {
        // Its worker does nothing: another service sends later.
        try await TestService.runWithSchema(adjust: { $0.worksInBackground = false }) { held in
            let ada = try await held.addMember("ada", role: "team")
            var members: [String: TestMember] = [:]
            for (number, name) in ["role", "disabled", "session", "subscription", "device", "stays"].enumerated() {
                let member = try await held.addMember(name, role: "team")
                members[name] = member
                try await held.register(number, as: member)
                try await held.subscribe(name, as: member, #"{"collection":"bugs","on":["created"],"alert":"a"}"#)
            }
            let written = try await held.call("PUT", "/api/records/bugs/b", as: ada, #"{"data":{"title":"a"}}"#)
            #expect(written.status == 200)
            #expect(try await held.count("SELECT count(*) FROM deliveries WHERE channel = 'subscriptions'") == 1)
            let ids = members.mapValues(\.userID)
            try await held.postgres.write("DELETE FROM role_members WHERE user_id = \(ids["role"] ?? 0)")
            try await held.postgres.write("UPDATE users SET disabled_at = now() WHERE id = \(ids["disabled"] ?? 0)")
            try await held.postgres.write("DELETE FROM sessions WHERE user_id = \(ids["session"] ?? 0)")
            try await held.postgres.write("DELETE FROM subscriptions WHERE user_id = \(ids["subscription"] ?? 0)")
            try await held.postgres.write("DELETE FROM devices WHERE user_id = \(ids["device"] ?? 0)")
            try await TestService.run(databaseURL: held.databaseURL) { service in
                let pushes = try await service.pushes()
                #expect(Self.brief(pushes) == ["created b stays 5"])
            }
        }
    }

    @Test("Of a change that is spread out page by page, each device is told once, wherever it is gone on")
    func pages() async throws {
        try await TestService.runWithSchema(adjust: { $0.worksInBackground = false }) { held in
            let ada = try await held.addMember("ada", role: "team")
            try await held.subscribe("s", as: ada, #"{"collection":"bugs","on":["created"],"alert":"a"}"#)
            try await held.addSubscribers(1_100, like: ada)
            _ = try await held.call("PUT", "/api/records/bugs/b", as: ada, #"{"data":{"title":"a"}}"#)
            #expect(try await held.spreadAll(maxTime: .zero) == 2)
            #expect(try await held.count("SELECT count(*) FROM deliveries") == 1_100)
            #expect(
                try await held.count("SELECT count(DISTINCT target) FROM deliveries WHERE channel = 'apns'") == 1_100
            )
        }
    }

    @Test("Of changes that are spread out at the same time, a subscription that tells once tells one")
    func onceAtOnce() async throws {
        try await TestService.runWithSchema(adjust: { $0.worksInBackground = false }) { held in
            let ada = try await held.addMember("ada")
            try await held.register(1, as: try await held.addSecondSession(of: ada))
            for id in ["s", "t", "u"] {
                let rule = #"{"collection":"houses","on":["created"],"alert":"a","once":true}"#
                try await held.subscribe(id, as: ada, rule)
            }
            for number in 0..<4 {
                _ = try await held.call("PUT", "/api/records/houses/\(number)", as: ada, #"{"data":{"address":"a"}}"#)
            }
            try await held.spreadAll(atOnce: 4)
            #expect(try await held.count("SELECT count(*) FROM deliveries WHERE channel = 'apns'") == 3)
        }
    }

    @Test("A push is composed from what its user may see when it is sent")
    func lostAfterwards() async throws {
        try await TestService.runWithSchema(adjust: { $0.worksInBackground = false }) { held in
            let ada = try await held.addMember("ada", role: "team")
            for (number, name) in ["role", "disabled", "moved", "mail", "stays"].enumerated() {
                let member = try await held.addMember(name, role: "team")
                try await held.register(number, as: member)
                try await held.subscribe(name, as: member, #"{"collection":"bugs","on":["created"],"alert":"a"}"#)
            }
            for id in ["b", "gone"] {
                _ = try await held.call("PUT", "/api/records/bugs/\(id)", as: ada, #"{"data":{"title":"a"}}"#)
            }
            try await held.spreadAll()
            #expect(try await held.call("DELETE", "/api/records/bugs/gone", as: ada).status == 200)
            for change: PostgresQuery in [
                "DELETE FROM role_members USING users WHERE users.id = user_id AND email = 'role@example.com'",
                "UPDATE users SET disabled_at = now() WHERE email = 'disabled@example.com'",
                "UPDATE devices SET user_id = \(ada.userID) WHERE token = \(TestService.deviceToken(2))",
                "UPDATE subscriptions SET channel = 'mail' WHERE name = 'mail'",
            ] {
                try await held.postgres.write(change)
            }
            try await TestService.run(databaseURL: held.databaseURL) { service in
                let pushes = try await service.pushes()
                #expect(Self.brief(pushes) == ["created b stays 4"])
            }
            // A role that is disabled gives nothing.
            try await held.postgres.write("UPDATE roles SET disabled_at = now()")
            try await held.postgres.write(
                """
                INSERT INTO deliveries (id, channel, target, cause, ends_at)
                SELECT gen_random_uuid(), 'apns', 'device:' || devices.id, jsonb_build_object('kind', 'created', 'subscription',
                    subscriptions.id, 'device', devices.id, 'stream', grants.stream_id, 'collection', grants.collection_id, 'key',
                    record_key), now() + interval '1 day'
                FROM devices JOIN subscriptions USING (user_id), grants WHERE name = 'stays' AND rights % 2 = 1
                """
            )
            #expect(try await held.count("SELECT count(*) FROM deliveries") == 1)
            try await TestService.run(databaseURL: held.databaseURL) { service in
                let pushes = try await service.pushes()
                #expect(pushes.isEmpty)
            }
        }
    }

    @Test("What can't be read any more does not use up a subscription that tells once")
    func onceUnread() async throws {
        try await TestService.runWithSchema(adjust: { $0.worksInBackground = false }) { held in
            let ada = try await held.addMember("ada")
            try await held.register(1, as: try await held.addSecondSession(of: ada))
            let rule = #"{"collection":"houses","on":["created"],"alert":"a","once":true}"#
            try await held.subscribe("once", as: ada, rule)
            _ = try await held.call("PUT", "/api/records/houses/a", as: ada, #"{"data":{"address":"a"}}"#)
            #expect(try await held.call("DELETE", "/api/records/houses/a", as: ada).status == 200)
            try await held.spreadAll()
            #expect(try await held.count("SELECT count(*) FROM deliveries") == 0)
            #expect(try await held.count("SELECT count(*) FROM subscriptions WHERE fired_at IS NULL") == 1)
            for id in ["b", "c"] {
                _ = try await held.call("PUT", "/api/records/houses/\(id)", as: ada, #"{"data":{"address":"a"}}"#)
            }
            try await held.spreadAll()
            #expect(try await held.count("SELECT count(*) FROM deliveries WHERE channel = 'apns'") == 1)
        }
    }

    @Test("Fields of records leave the service only with PUSH_CONTENTS=contents", arguments: ["ids", "contents"])
    func contents(setting: String) async throws {
        try await TestService.runWithSchema(settings: ["RATE_LIMITS": "off", "PUSH_CONTENTS": setting]) { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await service.postgres.write("UPDATE users SET first_name = 'Zaphod' WHERE id = \(ada.userID)")
            try await service.register(1, as: bob)
            let alert = "{owner.first_name} in {collection}: {text} {missing}{"
            let rule = #""collection":"messages","on":["created"]"#
            try await service.subscribe("m", as: bob, #"{\#(rule),"alert":"\#(alert)"}"#)
            let thread = #"{"data":{},"readers":["\#(bob.id)"]}"#
            _ = try await service.call("PUT", "/api/records/threads/t", as: ada, thread)
            let data = #"{"data":{"threadId":"t","text":"s3cret {collection} \#(String(repeating: "é", count: 300))"}}"#
            #expect(try await service.call("PUT", "/api/records/messages/m", as: ada, data).status == 200)
            let push = try #require(try await service.pushes().first)
            if setting == "ids" {
                #expect(
                    push.alert == "in messages: {" && !push.text.contains("s3cret") && !push.text.contains("Zaphod")
                )
            } else {
                // A value is not filled again, and the text has an end.
                #expect(push.alert?.hasPrefix("Zaphod in messages: s3cret {collection} éé") == true)
                #expect(push.alert?.unicodeScalars.count == 200 && push.alert?.hasSuffix("…") == true)
            }
        }
    }

    @Test("A badge counts on from what the app has set, once for each push")
    func badges() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let tablet = try await service.addSecondSession(of: ada)
            let token = try await service.register(1, as: tablet)
            try await service.subscribe("s", as: ada, #"{"collection":"houses","on":["created"],"badge":true}"#)
            for number in 0..<2 {
                _ = try await service.call(
                    "PUT",
                    "/api/records/houses/\(number)",
                    as: ada,
                    #"{"data":{"address":"a"}}"#
                )
                _ = try await service.pushes()
            }
            _ = try await service.call("PUT", "/api/devices/\(token)", as: tablet, #"{"platform":"apns","badge":0}"#)
            _ = try await service.call("PUT", "/api/records/houses/2", as: ada, #"{"data":{"address":"a"}}"#)
            #expect(try await service.pushes().map(\.badge) == [1, 2, 1])
        }
    }

    @Test("20 pushes wait for a device at most; those with one key replace each other")
    func waiting() async throws {
        try await TestService.runWithSchema(adjust: { $0.worksInBackground = false }) { held in
            let ada = try await held.addMember("ada")
            let tablet = try await held.addSecondSession(of: ada)
            try await held.register(1, as: tablet)
            try await held.subscribe("all", as: ada, #"{"collection":"houses","on":["created"],"alert":"a"}"#)
            let one = #"{"collection":"houses","on":["created"],"alert":"b","collapse":"houses"}"#
            try await held.subscribe("one", as: ada, one)
            for number in 0..<30 {
                _ = try await held.call("PUT", "/api/records/houses/\(number)", as: ada, #"{"data":{"address":"a"}}"#)
            }
            // One after another, as if they had come so; and none is sent.
            try await held.spreadAll()
            #expect(try await held.count("SELECT count(*) FROM deliveries WHERE channel = 'subscriptions'") == 0)
            let waiting = try await held.count("SELECT count(*) FROM deliveries WHERE channel = 'apns'")
            #expect((20...21).contains(waiting))
            try await TestService.run(databaseURL: held.databaseURL) { service in
                let pushes = try await service.pushes()
                #expect(pushes.filter { $0.subscription == "one" }.map(\.id) == ["29"])
                #expect(
                    Set(pushes.filter { $0.subscription == "all" }.map(\.id)).isSuperset(of: (12..<30).map(String.init))
                )
            }
        }
    }
}
