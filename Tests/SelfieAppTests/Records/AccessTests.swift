import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Access to records", .timeLimit(.minutes(3)))
struct AccessTests {
    @Test("A private record is its owner's alone")
    func privateRecord() async throws {
        try await TestService.runWithSchema { service in
            let (ada, eve) = (try await service.addMember("ada"), try await service.addMember("eve"))
            let made = try await service.call(
                "POST",
                "/api/records/houses",
                as: ada,
                #"{"id":"h1","data":{"address":"1 Rose St"}}"#
            )
            #expect(made.status == 200, "\(made.text)")
            #expect(made.json["owner"] as? String == ada.id && made.json["version"] as? Int == 1)
            #expect(made.headers["etag"] == "\"1\"")
            let path = "/api/records/houses/h1"
            #expect(try await service.call("GET", path, as: ada).data["address"] as? String == "1 Rose St")
            for method in ["GET", "DELETE"] {
                let refused = try await service.call(method, path, as: eve)
                #expect(refused.status == 404 && refused.code == "record_not_found")
            }
            for method in ["PUT", "PATCH"] {
                let refused = try await service.call(method, path, as: eve, #"{"data":{"address":"x"}}"#)
                #expect(refused.status == 404 && refused.code == "record_not_found", "\(refused.text)")
            }
            #expect(try await service.ids("houses", as: eve).isEmpty)
            let changed = try await service.call("PATCH", path, as: ada, #"{"data":{"comment":"nice"}}"#)
            #expect(changed.json["version"] as? Int == 2 && changed.data.count == 2)
            #expect(try await service.ids("houses", as: ada) == ["h1"])
            #expect(try await service.call("DELETE", path, as: ada).json["deleted"] as? Int == 1)
            #expect(try await service.call("GET", path, as: ada).status == 404)
            #expect(try await service.ids("houses", as: ada).isEmpty)
            try await service.expectSoundStreams()
        }
    }

    @Test("Readers and writers of an acl record do what they may, and only the owner sees who they are")
    func acl() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let (cleo, eve) = (try await service.addMember("cleo"), try await service.addMember("eve"))
            let made = try await service.call(
                "PUT",
                "/api/records/threads/t1",
                as: ada,
                #"{"data":{},"readers":["\#(bob.id)"],"writers":["\#(cleo.id)"]}"#
            )
            #expect(made.status == 200, "\(made.text)")
            #expect(made.json["readers"] as? [String] == [bob.id, cleo.id].sorted())
            #expect(made.json["writers"] as? [String] == [cleo.id])
            let path = "/api/records/threads/t1"
            for member in [ada, bob, cleo] {
                let seen = try await service.call("GET", path, as: member)
                #expect(seen.status == 200 && (seen.json["readers"] != nil) == (member.name == "ada"))
                #expect(try await service.ids("threads", as: member) == ["t1"])
            }
            #expect(try await service.call("GET", path, as: eve).status == 404)
            let statuses = [("bob", 403), ("cleo", 200), ("eve", 404)]
            for (member, expected) in zip([bob, cleo, eve], statuses) {
                let answer = try await service.call("PATCH", path, as: member, #"{"data":{}}"#)
                #expect(answer.status == expected.1, "\(expected.0) \(answer.text)")
                // A reader may leave. The record stays.
                let left = try await service.call("DELETE", path, as: member)
                #expect(left.status == ["bob": 200, "cleo": 403, "eve": 404][expected.0])
            }
            let share = try await service.call("PATCH", path, as: cleo, #"{"readers":["\#(eve.id)"]}"#)
            #expect(share.status == 403 && share.code == "record_forbidden")
            // A reader who is no longer named loses it; omitted members stay.
            let taken = try await service.call("PATCH", path, as: ada, #"{"readers":["\#(eve.id)"]}"#)
            #expect(taken.json["readers"] as? [String] == [cleo.id, eve.id].sorted())
            #expect(try await service.call("GET", path, as: bob).status == 404)
            #expect(try await service.ids("threads", as: bob).isEmpty)
            #expect(try await service.ids("threads", as: eve) == ["t1"])
            #expect(try await service.call("DELETE", path, as: ada).status == 200)
            for member in [ada, bob, cleo, eve] {
                #expect(try await service.call("GET", path, as: member).status == 404)
            }
            try await service.expectSoundStreams()
        }
    }

    @Test("Naming an unknown or a blocking member is refused alike, and stores nothing")
    func naming() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await service.postgres.write(
                "INSERT INTO blocks (user_id, blocked_user_id) VALUES (\(bob.userID), \(ada.userID))"
            )
            var refusals: Set<String> = []
            for id in [bob.id, "nobody", String(repeating: "0", count: 32)] {
                let refused = try await service.call(
                    "POST",
                    "/api/records/threads",
                    as: ada,
                    #"{"data":{},"readers":["\#(id)"]}"#
                )
                #expect(refused.status == 400)
                refusals.insert(refused.text)
            }
            #expect(refusals.count == 1 && refusals.first?.contains("reader_unknown") == true)
            #expect(try await service.ids("threads", as: ada).isEmpty)
            let inbox = try await service.call(
                "PUT",
                "/api/members/\(bob.id)/records/inbox/m1",
                as: ada,
                #"{"data":{"text":"hello"}}"#
            )
            let unknown = try await service.call(
                "PUT",
                "/api/members/nobody/records/inbox/m1",
                as: ada,
                #"{"data":{"text":"hello"}}"#
            )
            #expect(inbox.status == 404 && inbox.text == unknown.text && inbox.code == "member_not_found")
            let other = try await service.call(
                "POST",
                "/api/records/houses",
                as: ada,
                #"{"data":{"address":"x"},"readers":["\#(ada.id)"]}"#
            )
            #expect(other.status == 400 && other.code == "readers_not_allowed")
        }
    }

    @Test("Readers may be sent as they were read, also those who have since blocked the owner or are disabled")
    func keptReaders() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let (bob, cleo) = (try await service.addMember("bob"), try await service.addMember("cleo"))
            let dan = try await service.addMember("dan")
            let path = "/api/records/threads/t"
            let body = #"{"data":{},"readers":["\#(bob.id)"],"writers":["\#(cleo.id)"]}"#
            #expect(try await service.call("PUT", path, as: ada, body).status == 200)
            for member in [bob, dan] {
                #expect(try await service.call("PUT", "/api/blocks/\(ada.id)", as: member).status == 200)
            }
            try await service.postgres.write("UPDATE users SET disabled_at = now() WHERE id = \(cleo.userID)")
            let again = try await service.call("PUT", path, as: ada, body)
            #expect(again.status == 200, "\(again.text)")
            #expect(Set(again.json["readers"] as? [String] ?? []) == [bob.id, cleo.id])
            #expect(try await service.call("GET", path, as: bob).status == 200)
            // No other member who has blocked the owner is added by that, and a removed reader is not added again.
            let others = #"{"readers":["\#(bob.id)","\#(dan.id)"]}"#
            #expect(try await service.call("PATCH", path, as: ada, others).code == "reader_unknown")
            #expect(try await service.call("PATCH", path, as: ada, #"{"readers":[],"writers":[]}"#).status == 200)
            #expect(try await service.call("PATCH", path, as: ada, body).code == "reader_unknown")
        }
    }

    @Test("An inbox: sent twice is there once, only the recipient reads, both may delete")
    func inbox() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let eve = try await service.addMember("eve")
            let path = "/api/members/\(bob.id)/records/inbox/m1"
            let first = try await service.call("PUT", path, as: ada, #"{"data":{"text":"hello"}}"#)
            let again = try await service.call("PUT", path, as: ada, #"{ "data": {"text":"hello"} }"#)
            #expect(first.status == 200 && again.status == 200 && again.json["version"] as? Int == 1, "\(again.text)")
            let other = try await service.call("PUT", path, as: ada, #"{"data":{"text":"other"}}"#)
            #expect(other.status == 409 && other.code == "message_id_taken")
            #expect(try await service.call("PATCH", path, as: ada, #"{"data":{"text":"other"}}"#).status == 403)
            #expect(try await service.call("GET", path, as: ada).status == 403)
            for method in ["GET", "DELETE"] {
                #expect(try await service.call(method, path, as: eve).status == 404)
            }
            #expect(try await service.call("PUT", path, as: eve, #"{"data":{"text":"hello"}}"#).status == 409)
            for list in ["/api/members/\(bob.id)/records/inbox"] {
                #expect(try await service.call("GET", list, as: ada).status == 404)
                #expect(try await service.call("GET", list, as: bob).records.count == 1)
            }
            #expect(try await service.ids("inbox", as: ada).isEmpty)
            #expect(try await service.ids("inbox", as: bob) == ["m1"])
            #expect(try await service.call("GET", "/api/records/inbox/m1", as: bob).data["text"] as? String == "hello")
            #expect(try await service.call("GET", path, as: bob).data["text"] as? String == "hello")
            // The recipient stores it and deletes it. Sending it again delivers nothing.
            #expect(try await service.call("DELETE", "/api/records/inbox/m1", as: bob).status == 200)
            #expect(try await service.call("PUT", path, as: ada, #"{"data":{"text":"hello"}}"#).status == 200)
            #expect(try await service.ids("inbox", as: bob).isEmpty)
            #expect(try await service.call("DELETE", path, as: ada).status == 200)
            // The author takes another one back.
            let second = "/api/members/\(bob.id)/records/inbox/m2"
            #expect(try await service.call("PUT", second, as: ada, #"{"data":{"text":"oops"}}"#).status == 200)
            #expect(try await service.call("DELETE", second, as: ada).status == 200)
            #expect(try await service.ids("inbox", as: bob).isEmpty)
            #expect(try await service.call("GET", "/api/members/\(bob.id)/records/houses", as: bob).status == 404)
            try await service.expectSoundStreams()
        }
    }

    @Test("Shared records are the role's, until it is switched off or left")
    func shared() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await service.addMember("bob", role: "team")
            let (lead, eve) = (try await service.addMember("lead", role: "leads"), try await service.addMember("eve"))
            let path = "/api/records/priorities/high"
            #expect(try await service.call("PUT", path, as: ada, #"{"data":{"name":"High"}}"#).status == 200)
            #expect(try await service.call("GET", path, as: bob).status == 200)
            #expect(try await service.call("PATCH", path, as: bob, #"{"data":{"rank":1}}"#).status == 200)
            #expect(try await service.call("DELETE", path, as: bob).status == 403)
            #expect(try await service.call("GET", path, as: eve).status == 404)
            #expect(try await service.call("GET", "/api/records/priorities", as: eve).status == 404)
            let put = try await service.call("PUT", path, as: eve, #"{"data":{"name":"x"}}"#)
            #expect(put.status == 404 && put.code == "collection_not_found")
            #expect(try await service.call("GET", path, as: lead).status == 403)
            #expect(try await service.call("GET", "/api/records/priorities", as: lead).status == 404)
            try await service.postgres.write("UPDATE roles SET disabled_at = now() WHERE name = 'team'")
            for member in [ada, bob] {
                #expect(try await service.call("GET", path, as: member).status == 404)
                #expect(try await service.call("GET", "/api/records/priorities", as: member).status == 404)
                #expect(try await service.call("DELETE", path, as: member).status == 404)
            }
            try await service.postgres.write("UPDATE roles SET disabled_at = NULL WHERE name = 'team'")
            #expect(try await service.ids("priorities", as: bob) == ["high"])
            try await service.postgres.write("DELETE FROM role_members WHERE user_id = \(ada.userID)")
            #expect(try await service.call("DELETE", path, as: ada).status == 404)
            #expect(try await service.call("DELETE", path, as: lead).status == 200)
            #expect(try await service.ids("priorities", as: bob).isEmpty)
            try await service.expectSoundStreams()
        }
    }

    @Test("Published records are read by all, and changed by their owners")
    func published() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let path = "/api/records/news/n1"
            #expect(try await service.call("PUT", path, as: ada, #"{"data":{"title":"Hello"}}"#).status == 200)
            for member in [ada, bob] {
                #expect(try await service.call("GET", path, as: member).status == 200)
                #expect(try await service.ids("news", as: member) == ["n1"])
            }
            #expect(try await service.call("PATCH", path, as: bob, #"{"data":{"title":"x"}}"#).status == 403)
            #expect(try await service.call("DELETE", path, as: bob).status == 403)
            #expect(try await service.call("PATCH", path, as: ada, #"{"data":{"title":"y"}}"#).status == 200)
            #expect(try await service.call("DELETE", path, as: ada).status == 200)
            #expect(try await service.ids("news", as: bob).isEmpty)
            try await service.expectSoundStreams()
        }
    }
}
