import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The example of nginx that caches photos", .timeLimit(.minutes(3)))
struct PhotoCacheTests {
    /// A stored photo, behind a service and the proxy.
    private struct Scene {
        let process: SelfieProcess
        /// Calls by way of the proxy.
        let service: TestService
        let token: String
        let randomID: String
        /// The photo's URL, from its path on.
        let target: String

        static func with(_ body: (Scene) async throws -> Void) async throws {
            let settings = ["PHOTO_DELIVERY": "proxy", "TRUSTED_PROXIES": "1", "RENDITIONS_AT_ONCE": "1"]
            try await ServedSelfie.run(store: .s3, settings: settings) { served in
                let direct = served.service
                try await NginxProxy.with([direct.port], options: .cachesPhotos) { port in
                    let service = ServedSelfie.attach(
                        port: port,
                        databaseURL: direct.databaseURL,
                        objects: direct.objects,
                        postgres: direct.postgres
                    )
                    let token = try await service.makeToken()
                    let photo = try await service.upload(token: token).json
                    let url = try #require(photo["image_url"] as? String)
                    let path = try #require(url.firstRange(of: "/photos/"))
                    try await body(
                        Scene(
                            process: served.process,
                            service: service,
                            token: token,
                            randomID: try #require(photo["random_id"] as? String),
                            target: String(url[path.lowerBound...])
                        )
                    )
                }
            }
        }

        /// Gets the photo by a whole URL, since the description of the API has no cache.
        func get(_ target: String, headers: [(String, String)] = []) async throws -> HTTPAnswer {
            try await service.send("GET", "http://127.0.0.1:\(service.port)\(target)", headers: headers)
        }

        func expectRefused(_ target: String, _ comment: Comment) async throws {
            let answer = try await get(target)
            #expect(answer.status == 403, comment)
            #expect(answer.json["code"] as? String == "photo_url_invalid", comment)
            #expect(answer.headers["cache-control"] == "no-store", comment)
            #expect(answer.headers["x-cache"] == nil, comment)
            #expect(answer.headers["strict-transport-security"] == "max-age=31536000", comment)
        }
    }

    @Test("It sends what it has, in parts as well, and a client may keep it as long as Selfie says")
    func hits() async throws {
        try await Scene.with { scene in
            let first = try await scene.get(scene.target)
            #expect(first.status == 200)
            #expect(first.headers["x-cache"] == "MISS")
            let second = try await scene.get(scene.target)
            #expect(second.headers["x-cache"] == "HIT")
            #expect(first.body == second.body)
            #expect(second.headers["strict-transport-security"] == "max-age=31536000")
            #expect(try #require(second.headers["cache-control"]).wholeMatch(of: /private, max-age=\d+/) != nil)

            let part = try await scene.get(scene.target, headers: [("Range", "bytes=1-10")])
            #expect(part.status == 206)
            #expect(part.headers["x-cache"] == "HIT")
            #expect(part.body == first.body[1...10])

            let tag = try #require(first.headers["etag"])
            #expect(try await scene.get(scene.target, headers: [("If-None-Match", tag)]).status == 304)
        }
    }

    @Test("It asks Selfie about each URL, although it has the photo")
    func refusals() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get(scene.target).status == 200)
            let path = try #require(scene.target.split(separator: "?").first)
            let forged = scene.target.dropLast() + (scene.target.hasSuffix("A") ? "B" : "A")
            try await scene.expectRefused(String(path), "without a signature")
            try await scene.expectRefused(String(forged), "with another signature")
            try await scene.expectRefused(
                scene.target.replacing(/expires=\d+/, with: "expires=1600000000"),
                "with another time"
            )
            #expect(try await scene.get(scene.target).headers["x-cache"] == "HIT")
        }
    }

    @Test("A deleted photo, and a URL of sessions that have ended, are refused at once", arguments: [true, false])
    func ends(byDeletion: Bool) async throws {
        try await Scene.with { scene in
            #expect(try await scene.get(scene.target).status == 200)
            #expect(try await scene.get(scene.target).headers["x-cache"] == "HIT")
            let ended =
                byDeletion
                ? try await scene.service.delete(scene.randomID, token: scene.token)
                : try await scene.service.sendForm(
                    "GET",
                    "/api/clear_token?all=true",
                    authorization: "Token token=\(scene.token)"
                )
            #expect(ended.status == 200)
            try await scene.expectRefused(scene.target, byDeletion ? "it was deleted" : "all sessions have ended")
        }
    }

    @Test(
        "No spelling of a size puts a small picture into the place of the photo",
        arguments: ["&s%69ze=small", "&size=&size=small", ";size=small"]
    )
    func sizes(query: String) async throws {
        try await Scene.with { scene in
            // Otherwise the photo may be sent in its place.
            try await poll("the small picture is made") {
                try await scene.service.count("SELECT count(*) FROM renditions WHERE state = 'ready'") == 1
            }
            let small = try await scene.get(scene.target + query)
            #expect(small.status == 200)
            #expect(small.headers["x-cache"] == "MISS")
            #expect(!small.body.isEmpty && small.body != TestImage.jpeg)

            let photo = try await scene.get(scene.target)
            #expect(photo.status == 200)
            #expect(photo.body == TestImage.jpeg)
            #expect(try await scene.get(scene.target).headers["x-cache"] == "HIT")
            let again = try await scene.get(scene.target + "&size=small")
            #expect(again.headers["x-cache"] == "HIT")
            #expect(again.body == small.body)
        }
    }

    @Test("What is another version than Selfie named when it was asked is sent, and not kept")
    func otherVersion() async throws {
        let reply = ScriptedServer.Reply.answer { request in
            request.line.hasPrefix("HEAD ")
                ? String.answer("304 Not Modified", ["ETag": "\"photo\""])
                : String.answer("200 OK", ["ETag": "\"small\""], body: "small")
        }
        try await ScriptedServer.with(Array(repeating: reply, count: 4)) { server in
            let port = try #require(URL(string: server.endpoint)?.port)
            try await NginxProxy.with([port], options: .cachesPhotos) { port in
                for _ in 0..<2 {
                    let answer = try await RawConnection.open(port: port) { connection in
                        try await connection.send("GET /photos/a HTTP/1.1\r\nHost: a\r\n\r\n")
                        return try await connection.readResponse()
                    }
                    #expect(answer?.text == "small")
                    #expect(answer?.headers["x-cache"] == "MISS")
                }
            }
        }
    }

    @Test("While Selfie can't be asked, nobody gets a photo, and clients are told to come back")
    func unavailable() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get(scene.target).status == 200)
            scene.process.signal(SIGKILL)
            _ = try await scene.process.waitForExit()
            let answer = try await scene.get(scene.target)
            #expect(answer.status == 503)
            #expect(answer.json["code"] as? String == "service_unavailable")
            #expect(answer.headers["retry-after"] == "5")
            #expect(answer.headers["x-cache"] == nil)
            #expect(answer.headers["strict-transport-security"] == "max-age=31536000")
        }
    }
}
