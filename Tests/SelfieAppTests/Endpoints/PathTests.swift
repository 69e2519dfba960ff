import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import Testing

@testable import SelfieWeb

@Suite("Paths and methods")
struct PathTests {
    private static let spellings = [
        "/api/get_photos/", "/api/get_photos//", "//api/get_photos", "/api//get_photos", "///api///get_photos///",
        "/api/get_photos.json", "/api/get_photos.json/", "/api/get_photos.json?a=.b/c", "/api//get_photos.json",
        "/api/get_photos?", "/api/get_photos/?a=1",
    ]

    @Test("Slashes and .json at the end, and doubled slashes, make no difference")
    func matches() async throws {
        try await TestService.run { service in
            let authorization = tokenHeader(try await service.makeToken())
            for target in Self.spellings {
                let answer = try await service.check(Scenario(target, "GET \(target)", authorization: authorization))
                #expect(answer.text == "[]")
            }
        }
    }

    @Test("A .json suffix matches on every call")
    func suffix() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            for endpoint in Routes.endpoints where endpoint.needsParameters {
                let scenario = Scenario(
                    endpoint.call,
                    "\(endpoint.call).json/",
                    headers: endpoint.credentials(token: token),
                    status: 400,
                    message: Refusal.missing
                )
                try await service.check(scenario)
            }
            for target in ["/api/sessions.json", "//api/sessions/", "/api//sessions.json/?a=1"] {
                let list = try await service.check(Scenario(target, "GET \(target)", authorization: tokenHeader(token)))
                #expect(list.jsonArray?.count == 1)
            }
            for suffix in ["/", ".json", ".json/?a=1"] {
                let other = try await service.newToken()
                let list = try await service.send(
                    "GET",
                    "/api/sessions",
                    headers: [("Authorization", tokenHeader(other))]
                )
                let id = try #require(list.jsonArray?.first?["id"] as? String)
                try await service.check(
                    Scenario(
                        "end",
                        "DELETE /api//sessions/\(id)\(suffix)",
                        authorization: tokenHeader(token),
                        message: "Session ended"
                    )
                )
            }
            try await service.check(
                Scenario(
                    "clear",
                    "GET /api/clear_token.json",
                    authorization: tokenHeader(token),
                    message: "Token cleared"
                )
            )
        }
    }

    private static let unknown = [
        "/nope", "/api", "/api/", "/api/nope", "/api/signup/more", "/API/get_photos", "/api/Get_Photos", "/get_photos",
        "/api/get_photo", "/api/get_photosx", "/photos", "/photos/x/y", "/files", "/files/x/y", "/docs/x",
        "/index.html", "/api/.json",
        "/api/session", "/api/sessions/1/2", "/api/account/1", "/sessions", "/..%2fapi", "/api/get_photos%00", "/*",
    ]

    /// The paths of railsauth, where a wrong method is 404.
    private static let original: Set = [
        "/", "/api/signup", "/api/signin", "/api/get_token", "/api/upload_photo", "/api/get_photos",
        "/api/delete_photo",
        "/api/reset_password", "/api/clear_token",
    ]
    private static let verbs = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    @Test("Beyond railsauth's paths, another method than a path takes is 405, and Allow names those that it takes")
    func wrongMethod() async throws {
        try await TestService.run(settings: ["GALLERY": "false"]) { service in
            for (path, known) in Endpoint.methods where !Self.original.contains(path) {
                // A setting closes these.
                guard !path.hasPrefix("/gallery"), !["/api/members", "/api/members/1"].contains(path) else { continue }
                for verb in Self.verbs where !known.contains(verb) {
                    let answer = try await service.send(verb, path)
                    #expect(answer.status == 405, "\(verb) \(path)")
                    #expect(answer.headers["allow"] == known.sorted().joined(separator: ", "), "\(verb) \(path)")
                    #expect(
                        verb == "HEAD" || answer.message == "This URL does not support this HTTP method",
                        "\(verb) \(path)"
                    )
                }
            }
            let answer = try await service.send("PUT", "/api//records/x/y.json/")
            #expect(answer.status == 401)
            for path in ["/gallery/account"] {
                #expect(try await service.send("POST", path).status == 404, "what is closed is not there: \(path)")
            }
            #expect(try await service.send("PATCH", "//api//me.json/").status == 401)
            #expect(try await service.send("POST", "//api//me.json/?a").headers["allow"] == "GET, HEAD, PATCH")
        }
    }

    @Test("Anything else is the wrong URL or method, with and without credentials", .timeLimit(.minutes(2)))
    func wrongURL() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let requests =
                Self.original.sorted().flatMap { path in
                    Self.verbs.filter { !Endpoint.methods[path, default: []].contains($0) }.map { "\($0) \(path)" }
                } + Self.unknown.flatMap { path in ["GET", "HEAD", "POST", "DELETE"].map { "\($0) \(path)" } }
            for request in requests {
                for authorization in [nil, TestService.basic, tokenHeader(token), "Token token=unknown"] {
                    try await service.check(
                        Scenario(
                            "\(request) with \(authorization?.prefix(5) ?? "nothing")",
                            request,
                            authorization: authorization,
                            status: 404,
                            message: Refusal.wrongURL
                        )
                    )
                }
            }
        }
    }

    @Test(
        "The root greets, with a page for browsers",
        arguments: [("false", "Glad to find you here!"), ("true", "Your selfies, for your eyes only.")]
    )
    func root(gallery: String, heading: String) async throws {
        try await TestService.run(settings: ["GALLERY": gallery]) { service in
            let text = try await service.check(Scenario("text", "GET /"))
            #expect(text.text == "Glad to find you here!")
            #expect(text.headers["content-type"]?.hasPrefix("text/plain") == true)
            let page = try await service.check(
                Scenario(
                    "page",
                    "GET /",
                    headers: [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")],
                    contains: [heading, "<html"]
                )
            )
            #expect(page.headers["content-type"]?.hasPrefix("text/html") == true)
            #expect(page.headers["vary"] == "Accept-Encoding, Accept")
            #expect(page.headers["cross-origin-opener-policy"] == "same-origin")
            #expect(page.headers["content-security-policy"]?.contains("unsafe") == false)
            #expect(
                page.headers["content-security-policy"]?.hasPrefix("default-src 'none'; script-src 'self';") == true
            )
            #expect(page.headers["content-security-policy"]?.hasSuffix("; frame-ancestors 'none'") == true)
            let calls = try await service.send("GET", "/gallery/account")
            #expect(calls.status == (gallery == "true" ? 401 : 404))
        }
    }
}
