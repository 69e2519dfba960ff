import ConnectionTestSupport
import Foundation
import Postgres
import RegexBuilder
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Lists and deletions")
struct PhotoListTests {
    @Test("The list has a user's own photos, oldest first, with the keys of an upload", arguments: TestStore.allCases)
    func list(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let ada = try await service.makeToken()
            let bob = try await service.makeToken(email: "bob@example.com")
            #expect(try await service.list(token: ada).text == "[]")
            var uploads: [HTTPAnswer] = []
            for index in 0..<5 {
                uploads.append(try await service.upload(TestImage.png(bytes: 64), token: ada, title: "\(index)"))
                _ = try await service.upload(TestImage.png(bytes: 64), token: bob, title: "Bob's")
            }
            let list = try await service.list(token: ada)
            #expect(list.text == "[\(uploads.map(\.text).joined(separator: ","))]")
            #expect(list.headers["content-type"]?.hasPrefix("application/json") == true)
            let keys = #/\{"name":"[^"]*","title":"[^"]*","image_url":"[^"]*","random_id":"[^"]*"/#
            let more =
                #/,"created_at":"[-0-9T:.]*Z","byte_count":64,"content_type":"image/png","width":640,"height":480\}/#
            #expect(
                uploads.allSatisfy {
                    $0.text.wholeMatch(
                        of: Regex {
                            keys; more
                        }
                    ) != nil
                }
            )
            #expect(try await service.list(token: bob).jsonArray?.count == 5)
        }
    }

    @Test("Photos that are not stored yet are neither listed, served nor deleted")
    func pending() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let upload = try await service.upload(TestImage.png(bytes: 64), token: token)
            let randomID = try #require(upload.json["random_id"] as? String)
            let url = try #require(upload.json["image_url"] as? String)
            try await service.postgres.write("UPDATE photos SET state = 'pending'")
            #expect(try await service.list(token: token).text == "[]")
            #expect(try await service.send("GET", url).status == 404)
            #expect(try await service.delete(randomID, token: token).message == Refusal.photo)
            #expect(service.objects.keys() == [randomID])
        }
    }

    @Test("A client that has the list gets 304")
    func revalidation() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            _ = try await service.uploadPhoto(token: token)
            let list = try await service.list(token: token)
            let tag = try #require(list.headers["etag"])
            #expect(tag.wholeMatch(of: /"[^"]+"/) != nil)
            for match in [tag, "W/\(tag)", "\"other\", \(tag)", "\(tag) , \"other\"", "*"] {
                let headers = [("If-None-Match", match)]
                let answer = try await service.check(
                    Scenario(
                        match,
                        "GET /api/get_photos",
                        authorization: tokenHeader(token),
                        headers: headers,
                        status: 304
                    )
                )
                #expect(answer.body.isEmpty)
                #expect(answer.headers["etag"] == tag)
            }
            let nobody = try await service.send("GET", "/api/get_photos", headers: [("If-None-Match", tag)])
            #expect(nobody.status == 401)
            let headers = [("Authorization", tokenHeader(token)), ("If-None-Match", tag)]
            for other in ["\"other\"", String(tag.dropLast(2)) + "\"", ""] {
                let headers = [headers[0], ("If-None-Match", other)]
                let answer = try await service.send("GET", "/api/get_photos", headers: headers)
                #expect(answer.status == 200)
                #expect(answer.body == list.body)
            }
            _ = try await service.uploadPhoto(token: token)
            let changed = try await service.send("GET", "/api/get_photos", headers: headers)
            #expect(changed.status == 200)
            #expect(changed.headers["etag"] != tag)
        }
    }

    @Test("A photo is deleted once, by its owner", arguments: TestStore.allCases)
    func delete(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            let ada = try await service.makeToken()
            let bob = try await service.makeToken(email: "bob@example.com")
            let randomID = try await service.uploadPhoto(token: ada)
            let kept = try await service.uploadPhoto(token: ada)
            let url = try #require(try await service.list(token: ada).jsonArray?.first?["image_url"] as? String)
            let refusals = [
                ("another user's", randomID, bob), ("unknown", "unknown", ada), ("empty", "", ada),
                ("too long", randomID + "x", ada), ("too short", String(randomID.dropLast()), ada),
                ("in capitals", randomID.uppercased(), ada), ("a path", "../\(randomID)", ada), ("%", "%", ada),
                ("very long", String(repeating: "x", count: 10_000), ada), ("NUL", randomID + "\0", ada),
            ]
            for (name, photoID, token) in refusals {
                try await service.check(Self.delete(name, photoID, token, status: 401, message: Refusal.photo))
            }
            try await service.check(Self.delete("the owner", randomID, ada, message: "Image deleted"))
            try await service.check(Self.delete("again", randomID, ada, status: 401, message: Refusal.photo))
            #expect(service.objects.keys() == [kept])
            #expect(try await service.send("GET", url).status == 404)
            #expect(try await service.list(token: ada).jsonArray?.count == 1)
            #expect(try await service.count("SELECT count(*) FROM object_deletions") == 0)
        }
    }

    private static func delete(
        _ name: String,
        _ photoID: String,
        _ token: String,
        status: Int = 200,
        message: String
    ) -> Scenario {
        Scenario(
            name,
            "DELETE /api/delete_photo",
            authorization: tokenHeader(token),
            .form([("photo_id", photoID)]),
            status: status,
            message: message
        )
    }
}
