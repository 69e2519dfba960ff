import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The example of nginx that caches photos", .timeLimit(.minutes(3)))
struct PhotoCacheTests {
    /// A stored photo, behind a service and the proxy.
    private struct Scene {
        /// Calls by way of the proxy.
        let service: TestService
        let token: String
        let randomID: String
        /// The photo's URL, from its path on.
        let target: String

        static func with(_ body: (Scene) async throws -> Void) async throws {
            let settings = ["PHOTO_DELIVERY": "proxy", "TRUSTED_PROXIES": "1"]
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
}
