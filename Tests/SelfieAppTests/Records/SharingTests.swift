import ConnectionTestSupport
import Encodings
import Foundation
import JSON
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieRecords

/// What members can do to each other's records by referring to them, by naming each other, and by leaving.
@Suite("Records that members share", .timeLimit(.minutes(3)))
struct SharingTests {
    private static let thread = "/api/records/threads/t"

    /// A thread of the first, whose messages name it.
    private static func makeThread(_ service: TestService, _ owner: TestMember, _ body: String) async throws {
        let made = try await service.call("PUT", thread, as: owner, body)
        #expect(made.status == 200, "\(made.text)")
    }

    private static func send(
        _ service: TestService,
        _ id: String,
        by member: TestMember,
        _ more: String = ""
    ) async throws -> HTTPAnswer {
        try await service.call(
            "PUT",
            "/api/records/messages/\(id)",
            as: member,
            #"{"data":{"threadId":"t","text":"x"}\#(more)}"#
        )
    }

    @Test("References set by readers and former writers hold nothing; those of writers and the owner do")
    func holding() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let (bob, cleo) = (try await service.addMember("bob"), try await service.addMember("cleo"))
            let end = #"{"expires_at":"2999-01-01T00:00:00Z"}"#
            let body = #"{"data":{},"readers":["\#(bob.id)"],"writers":["\#(cleo.id)"]}"#
            for (author, holds) in [(ada, true), (bob, false), (cleo, true)] {
                try await Self.makeThread(service, ada, body)
                #expect(try await Self.send(service, "m", by: author).status == 200)
                let expected = holds ? 409 : 200
                #expect(try await service.call("PATCH", Self.thread, as: ada, end).status == expected, "\(author.name)")
                #expect(try await service.call("DELETE", Self.thread, as: ada).status == expected, "\(author.name)")
                #expect(try await service.call("DELETE", "/api/records/messages/m", as: author).status == 200)
                _ = try await service.call("DELETE", Self.thread, as: ada)
            }
            // A writer who is taken off holds it no more.
            try await Self.makeThread(service, ada, body)
            #expect(try await Self.send(service, "m", by: cleo).status == 200)
            #expect(try await service.call("DELETE", Self.thread, as: ada).status == 409)
            let none = #"{"readers":[],"writers":[]}"#
            #expect(try await service.call("PATCH", Self.thread, as: ada, none).status == 200)
            #expect(try await service.call("DELETE", Self.thread, as: ada).status == 200)
            try await service.expectSoundStreams()
        }
    }

    @Test("A former reader of a record can't refer to it")
    func endedRight() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            try await Self.makeThread(service, ada, #"{"data":{},"writers":["\#(bob.id)"]}"#)
            #expect(try await Self.send(service, "m1", by: bob).status == 200)
            #expect(
                try await service.call("PATCH", Self.thread, as: ada, #"{"readers":[],"writers":[]}"#).status == 200
            )
            let refused = try await Self.send(service, "m2", by: bob)
            #expect(refused.status == 400 && refused.message?.contains("threadId") == true, "\(refused.text)")
            #expect(try await service.ids("messages", as: bob) == ["m1"])
        }
    }

    @Test("A message without readers is for its thread's readers; one with readers is for these")
    func inheritance() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let (cleo, dan) = (try await service.addMember("cleo"), try await service.addMember("dan"))
            let body = #"{"data":{},"readers":["\#(dan.id)"],"writers":["\#(bob.id)","\#(cleo.id)"]}"#
            try await Self.makeThread(service, ada, body)
            let all = try await Self.send(service, "all", by: bob)
            #expect(all.json["readers"] as? [String] == [ada.id, cleo.id, dan.id].sorted(), "\(all.text)")
            #expect(all.json["writers"] as? [String] == [])
            for member in [ada, cleo, dan] { #expect(try await service.ids("messages", as: member) == ["all"]) }
            let one = try await Self.send(service, "one", by: bob, #","readers":["\#(ada.id)"]"#)
            #expect(one.json["readers"] as? [String] == [ada.id])
            let none = try await Self.send(service, "none", by: bob, #","readers":[]"#)
            #expect(none.json["readers"] as? [String] == [])
            // A reader of the thread who may not write it sends to no others through it.
            let quiet = try await Self.send(service, "quiet", by: dan)
            #expect(quiet.status == 200 && quiet.json["readers"] as? [String] == [])
            // Members who have blocked the author, or are disabled, are left out.
            #expect(try await service.call("PUT", "/api/blocks/\(bob.id)", as: cleo).status == 200)
            try await service.postgres.write("UPDATE users SET disabled_at = now() WHERE id = \(dan.userID)")
            let fewer = try await Self.send(service, "fewer", by: bob)
            #expect(fewer.json["readers"] as? [String] == [ada.id], "\(fewer.text)")
            try await service.expectSoundStreams()
        }
    }

    @Test(
        "Any value is described and taken for what new messages set, and it is ignored",
        arguments: [#""no id\u0001""#, "5", "{}"]
    )
    func ignoredSetField(value: String) async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let document = try JSONValue.parse(stored: try await service.send("GET", "/openapi.json").body)
            let body = document["paths"]?["/api/records/threads/{id}"]?["put"]?["requestBody"]
            let fields = body?["content"]?["application/json"]?["schema"]?["properties"]?["data"]?["properties"]
            let described = try #require(fields?["lastMessage"])
            #expect(described["description"] != nil && described["type"] == nil, "\(described)")
            let made = try await service.call("PUT", Self.thread, as: ada, #"{"data":{"lastMessage":\#(value)}}"#)
            #expect(made.status == 200 && made.data.isEmpty, "\(made.text)")
        }
    }

    @Test("The field that new messages set can't be set by users, not at the creation either")
    func setFields() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            try await Self.makeThread(service, ada, #"{"data":{}}"#)
            #expect(try await Self.send(service, "m1", by: ada).status == 200)
            #expect(try await Self.send(service, "m2", by: ada).status == 200)
            let forged = #"{"data":{"lastMessage":"m1"}}"#
            for method in ["PUT", "PATCH"] {
                let kept = try await service.call(method, Self.thread, as: ada, forged)
                #expect(kept.status == 200 && kept.data["lastMessage"] as? String == "m2", "\(kept.text)")
            }
            let other = try await service.call("PUT", "/api/records/threads/other", as: ada, forged)
            #expect(other.status == 200 && other.data.isEmpty, "\(other.text)")
            // A message that ends by itself is named no more, either.
            try await service.postgres.write(
                "UPDATE records SET expires_at = now() - interval '1 hour' WHERE id = 'm2'"
            )
            await RecordEndTests.tidy(service)
            let cleared = try await service.call("GET", Self.thread, as: ada)
            #expect(cleared.data["lastMessage"] is NSNull, "\(cleared.text)")
            try await service.expectSoundStreams()
        }
    }

    @Test("Changes by a blocked member are not in the blocker's stream; a deletion is")
    func blockedAuthor() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let cleo = try await service.addMember("cleo")
            try await Self.makeThread(service, ada, #"{"data":{},"readers":["\#(bob.id)","\#(cleo.id)"]}"#)
            #expect(try await service.call("PUT", "/api/blocks/\(ada.id)", as: bob).status == 200)
            func changes(_ member: TestMember, since cursor: String) async throws -> [String] {
                let page = try await service.call("GET", "/api/changes?since=\(cursor)", as: member)
                return try #require(page.json["changes"] as? [[String: Any]]).compactMap { $0["type"] as? String }
            }
            func cursor(_ member: TestMember) async throws -> String {
                let page = try await service.call("GET", "/api/changes?since=now", as: member)
                return try #require(page.json["cursor"] as? String)
            }
            let (bobs, cleos) = (try await cursor(bob), try await cursor(cleo))
            for _ in 0..<3 {
                #expect(try await service.call("PATCH", Self.thread, as: ada, #"{"data":{}}"#).status == 200)
            }
            #expect(try await changes(bob, since: bobs).isEmpty)
            #expect(try await changes(cleo, since: cleos) == ["updated"])
            #expect(try await service.call("DELETE", Self.thread, as: ada).status == 200)
            #expect(try await changes(bob, since: bobs) == ["deleted"])
            try await service.expectSoundStreams()
        }
    }

    @Test("Nor are the expiry of such an author's message, or the deletion of its photo")
    func blockedAuthorsEnds() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let cleo = try await service.addMember("cleo")
            try await Self.makeThread(service, ada, #"{"data":{},"writers":["\#(bob.id)","\#(cleo.id)"]}"#)
            #expect(try await service.call("PUT", "/api/blocks/\(bob.id)", as: ada).status == 200)
            func changes(of member: TestMember, _ body: () async throws -> Void) async throws -> [String] {
                let page = try await service.call("GET", "/api/changes?since=now", as: member)
                let cursor = try #require(page.json["cursor"] as? String)
                try await body()
                let answer = try await service.call("GET", "/api/changes?since=\(cursor)", as: member)
                return try #require(answer.json["changes"] as? [[String: Any]]).compactMap { $0["id"] as? String }
            }
            func end(_ id: String) async throws {
                try await service.postgres.write(
                    "UPDATE records SET expires_at = now() - interval '1 hour' WHERE id = \(id)"
                )
                await RecordEndTests.tidy(service)
            }
            let bobsMessage = try await changes(of: ada) {
                #expect(try await Self.send(service, "m1", by: bob).status == 200)
                try await end("m1")
            }
            #expect(bobsMessage.isEmpty)
            #expect(try await service.call("GET", Self.thread, as: ada).data["lastMessage"] is NSNull)
            let cleosMessage = try await changes(of: ada) {
                #expect(try await Self.send(service, "m2", by: cleo).status == 200)
                try await end("m2")
            }
            #expect(Set(cleosMessage) == ["t", "m2"])
            // A photo of Bob's in a record that Ada reads.
            try await service.postgres.write("DELETE FROM blocks")
            let photo = try await service.uploadPhoto(token: bob.token)
            let shown = #"{"data":{"threadId":"t","picture":"\#(photo)"},"readers":["\#(ada.id)","\#(cleo.id)"]}"#
            #expect(try await service.call("PUT", "/api/records/messages/m3", as: bob, shown).status == 200)
            #expect(try await service.call("PUT", "/api/blocks/\(bob.id)", as: ada).status == 200)
            var cleos: [String] = []
            let adas = try await changes(of: ada) {
                cleos = try await changes(of: cleo) {
                    #expect(try await service.delete(photo, token: bob.token).status == 200)
                    let schemas = SchemaCache(store: SchemaStore(postgres: service.postgres))
                    try await ReportPhotoLosses(postgres: service.postgres, schemas: schemas, notifier: nil)()
                }
            }
            #expect(adas.isEmpty && cleos == ["m3"])
            try await service.expectSoundStreams()
        }
    }

    @Test("A writer by a role holds a record, and no more once the role is disabled or lost")
    func holdingByRole() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await service.addMember("bob", role: "team")
            let priority = "/api/records/priorities/p"
            func refer(_ id: String) async throws {
                #expect(try await service.call("PUT", priority, as: ada, #"{"data":{"name":"P"}}"#).status == 200)
                let bug = #"{"data":{"title":"b","priority":"p"}}"#
                #expect(try await service.call("PUT", "/api/records/bugs/\(id)", as: bob, bug).status == 200)
                #expect(try await service.call("DELETE", priority, as: ada).status == 409)
            }
            try await refer("b1")
            try await service.postgres.write("DELETE FROM role_members WHERE user_id = \(bob.userID)")
            #expect(try await service.call("DELETE", priority, as: ada).status == 200)
            try await service.add(bob.userID, to: "team")
            try await refer("b2")
            let planned = try await service.postgres.read(
                """
                SELECT records.key, collection_id::bigint AS collection_id FROM records WHERE id = 'p' AND deleted_at IS NULL
                """
            )
            try await service.postgres.write("UPDATE roles SET disabled_at = now() WHERE name = 'team'")
            let schema = try await SchemaStore(postgres: service.postgres).applied()
            let key: Int = try #require(planned.first).decode("key")
            let held = try await service.postgres.withTransaction { connection in
                try await RecordTransaction(connection: connection, schema: schema).referredTo([key], besidesBy: [])
            }
            #expect(held == nil)
        }
    }

    @Test("A reader has at most 50,000 records of one author, and others still reach that reader")
    func authorLimit() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let eve = try await service.addMember("eve")
            let body = #"{"data":{},"readers":["\#(bob.id)"]}"#
            #expect(try await service.call("POST", "/api/records/threads", as: ada, body).status == 200)
            try await service.postgres.write("UPDATE stream_authors SET record_count = 49999")
            #expect(try await service.call("POST", "/api/records/threads", as: ada, body).status == 200)
            let full = try await service.call("POST", "/api/records/threads", as: ada, body)
            #expect(full.status == 403 && full.code == "reader_full", "\(full.text)")
            #expect(try await service.ids("threads", as: bob).count == 2)
            #expect(try await service.call("POST", "/api/records/threads", as: eve, body).status == 200)
        }
    }

    @Test("A collection of a role is not there for others, whatever they ask of it")
    func hiddenCollection() async throws {
        try await TestService.runWithSchema { service in
            let (ada, eve) = (try await service.addMember("ada", role: "team"), try await service.addMember("eve"))
            #expect(try await service.call("GET", "/api/records/bugs?include=title", as: ada).status == 400)
            let queries = [
                "/api/records/@?include=title", "/api/records/@?include=priority", "/api/records/@/x",
                "/api/records/@?where=%7B%22title%22:%22x%22%7D", "/api/changes?collections=@", "/api/records/@?ids=a",
            ]
            for query in queries {
                let hidden = try await service.call("GET", query.replacing("@", with: "bugs"), as: eve)
                let none = try await service.call("GET", query.replacing("@", with: "nothing"), as: eve)
                #expect(hidden.status == 404 && hidden.code == "collection_not_found", "\(query)")
                #expect(hidden.text == none.text, "\(query)")
            }
            #expect(try await service.call("GET", "/api/changes?collections=bugs", as: ada).status == 200)
        }
    }
}
