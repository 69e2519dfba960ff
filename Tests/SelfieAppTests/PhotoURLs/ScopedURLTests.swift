import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieRecords

/// The URLs of photos that members see by way of records and pictures.
@Suite("Photos' URLs for others", .timeLimit(.minutes(3)))
struct ScopedURLTests {
    private static func picture(of answer: HTTPAnswer) throws -> String {
        try #require((answer.json["photos"] as? [String: String])?["picture"])
    }

    @Test("A record's photo opens for readers of the record, until their right ends")
    func record() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let cleo = try await service.addMember("cleo")
            let photo = try await service.uploadPhoto(token: ada.token)
            let (thread, message) = ("/api/records/threads/t", "/api/records/messages/m")
            #expect(try await service.call("PUT", thread, as: ada, #"{"data":{}}"#).status == 200)
            let data = #""data":{"threadId":"t","picture":"\#(photo)"}"#
            let readers = #"{\#(data),"readers":["\#(bob.id)","\#(cleo.id)"]}"#
            #expect(try await service.call("PUT", message, as: ada, readers).status == 200)
            var urls: [String] = []
            for member in [ada, bob, cleo] {
                urls.append(try Self.picture(of: try await service.call("GET", message, as: member)))
                #expect(try await service.send("GET", urls.last ?? "").status == 200)
            }
            #expect(Set(urls).count == 3)
            // The scope is signed: a URL can't be changed to another one, or to none.
            let other = urls[1].replacing(bob.id, with: cleo.id)
            let none = urls[1].replacing(try #require(urls[1].firstMatch(of: /for=[^&]*&/)).output, with: "")
            for forged in [other, none, urls[1].replacing("for=record", with: "for=other")] {
                #expect(forged != urls[1])
                #expect(try await service.send("GET", forged).status == 403)
            }
            // Bob is named no more, Cleo leaves.
            let fewer = #"{"readers":["\#(cleo.id)"]}"#
            #expect(try await service.call("PATCH", message, as: ada, fewer).status == 200)
            #expect(try await service.send("GET", urls[1]).status == 403)
            #expect(try await service.send("GET", urls[2]).status == 200)
            #expect(try await service.call("DELETE", message, as: cleo).status == 200)
            #expect(try await service.send("GET", urls[2]).status == 403)
            // The record shows it no more.
            #expect(try await service.send("GET", urls[0]).status == 200)
            let without = #"{"data":{"picture":null}}"#
            #expect(try await service.call("PATCH", message, as: ada, without).status == 200)
            #expect(try await service.send("GET", urls[0]).status == 403)
        }
    }

    @Test("A photo of a role ends for a member who leaves the role, and one of an inbox with its message")
    func roleAndInbox() async throws {
        let schema = """
            {"roles":{"team":{}},"collections":{
            "shared":{"access":"shared","role":"team","fields":{"picture":{"type":"photo"}}},
            "mail":{"access":"inbox","fields":{"picture":{"type":"photo"}}}}}
            """
        try await TestService.runWithSchema(schema) { service in
            let ada = try await service.addMember("ada", role: "team")
            let bob = try await service.addMember("bob", role: "team")
            let photo = try await service.uploadPhoto(token: ada.token)
            let body = #"{"data":{"picture":"\#(photo)"}}"#
            #expect(try await service.call("PUT", "/api/records/shared/s", as: ada, body).status == 200)
            let mail = "/api/members/\(bob.id)/records/mail/m"
            let sent = try await service.call("PUT", mail, as: ada, body)
            #expect((sent.json["photos"] as? [String: String])?.isEmpty == true)
            let urls = try [
                Self.picture(of: try await service.call("GET", "/api/records/shared/s", as: bob)),
                Self.picture(of: try await service.call("GET", "/api/records/mail/m", as: bob)),
            ]
            for url in urls { #expect(try await service.send("GET", url).status == 200) }
            try await service.postgres.write("UPDATE roles SET disabled_at = now()")
            #expect(try await service.send("GET", urls[0]).status == 403)
            try await service.postgres.write("UPDATE roles SET disabled_at = NULL")
            #expect(try await service.send("GET", urls[0]).status == 200)
            try await service.postgres.write("DELETE FROM role_members WHERE user_id = \(bob.userID)")
            #expect(try await service.send("GET", urls[0]).status == 403)
            #expect(try await service.call("DELETE", mail, as: ada).status == 200)
            #expect(try await service.send("GET", urls[1]).status == 403)
        }
    }

    @Test("A member's picture opens as long as it is the picture")
    func picture() async throws {
        try await TestService.runWithSchema { service in
            let ada = try await service.addMember("ada")
            let photo = try await service.uploadPhoto(token: ada.token)
            let shown = try await service.call("PATCH", "/api/me", as: ada, #"{"picture":"\#(photo)"}"#)
            let url = try #require(shown.json["picture"] as? String)
            #expect(try await service.send("GET", url).status == 200)
            #expect(try await service.call("PATCH", "/api/me", as: ada, #"{"picture":null}"#).status == 200)
            #expect(try await service.send("GET", url).status == 403)
        }
    }

    @Test("When a photo is deleted, each reader of its record gets one change")
    func deleted() async throws {
        try await TestService.runWithSchema { service in
            let (ada, bob) = (try await service.addMember("ada"), try await service.addMember("bob"))
            let photo = try await service.uploadPhoto(token: ada.token)
            let path = "/api/records/messages/m"
            _ = try await service.call("PUT", "/api/records/threads/t", as: ada, #"{"data":{}}"#)
            let body = #"{"data":{"threadId":"t","picture":"\#(photo)"},"readers":["\#(bob.id)"]}"#
            #expect(try await service.call("PUT", path, as: ada, body).status == 200)
            let page = try await service.call("GET", "/api/changes?since=now", as: bob)
            let cursor = try #require(page.json["cursor"] as? String)
            #expect(try await service.delete(photo, token: ada.token).status == 200)
            try await withThrowingTaskGroup(of: Void.self) { sweeps in
                for _ in 0..<4 {
                    sweeps.addTask {
                        let schemas = SchemaCache(store: SchemaStore(postgres: service.postgres))
                        try await ReportPhotoLosses(postgres: service.postgres, schemas: schemas, notifier: nil)()
                    }
                }
                try await sweeps.waitForAll()
            }
            let answer = try await service.call("GET", "/api/changes?since=\(cursor)", as: bob)
            let changes = try #require(answer.json["changes"] as? [[String: Any]])
            let record = try #require(changes.first?["record"] as? [String: Any])
            #expect(changes.count == 1 && changes[0]["type"] as? String == "updated")
            #expect(record["version"] as? Int == 2 && (record["photos"] as? [String: String])?.isEmpty == true)
            #expect(try await service.count("SELECT count(*) FROM photo_losses") == 0)
            try await service.expectSoundStreams()
        }
    }
}
