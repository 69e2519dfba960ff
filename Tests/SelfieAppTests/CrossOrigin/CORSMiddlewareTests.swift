import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import Testing

@testable import SelfieApp

@Suite("Pages of other origins", .timeLimit(.minutes(1)))
struct CORSMiddlewareTests {
    private static let origin = "https://app.example.com"
    private static let settings = ["CORS_ORIGINS": "https://app.example.com, http://localhost:5173"]

    @Test("Pages of the origins that are set may call, and see answers and refusals")
    func allowed() async throws {
        try await TestService.run(settings: Self.settings) { service in
            for origin in [Self.origin, "http://localhost:5173"] {
                let preflight = try await service.send(
                    "OPTIONS",
                    "/api/delete_photo",
                    headers: [("Origin", origin), ("Access-Control-Request-Method", "DELETE")]
                )
                #expect(preflight.status == 204)
                #expect(preflight.headers["access-control-allow-origin"] == origin)
                #expect(preflight.headers["access-control-allow-methods"] == "DELETE, GET, MERGE, PATCH, POST, PUT")
                #expect(preflight.headers["access-control-allow-headers"]?.contains("Authorization") == true)
                #expect(preflight.headers["access-control-allow-headers"]?.contains("Last-Event-ID") == true)
                #expect(preflight.headers["access-control-allow-credentials"] == nil)
                let refused = try await service.send("GET", "/api/get_photos", headers: [("Origin", origin)])
                #expect(refused.status == 401)
                #expect(refused.headers["access-control-allow-origin"] == origin)
                #expect(refused.headers["access-control-expose-headers"]?.contains("ETag") == true)
                #expect(refused.headers["vary"] == "Origin")
            }
        }
    }

    private static let others = [
        "https://evil.example.com", "http://app.example.com", "https://app.example.com:444", "null", "*",
    ]

    @Test("Pages of other origins get nothing that a browser would let them see")
    func others() async throws {
        try await TestService.run(settings: Self.settings) { service in
            for origin in Self.others {
                let preflight = try await service.send(
                    "OPTIONS",
                    "/api/delete_photo",
                    headers: [("Origin", origin), ("Access-Control-Request-Method", "DELETE")]
                )
                #expect(preflight.status == 404, "\(origin), as without the setting")
                let answer = try await service.send("GET", "/", headers: [("Origin", origin)])
                #expect(answer.status == 200)
                for answer in [preflight, answer] {
                    #expect(answer.headers.keys.allSatisfy { !$0.hasPrefix("access-control-") }, "\(origin)")
                    #expect(answer.headers["vary"]?.contains("Origin") == true, "\(origin)")
                }
            }
        }
    }

    @Test("Without the setting, no answer has CORS headers")
    func off() async throws {
        try await TestService.run { service in
            let answer = try await service.send("GET", "/", headers: [("Origin", Self.origin)])
            #expect(answer.headers.keys.allSatisfy { !$0.hasPrefix("access-control-") })
            #expect(answer.headers["vary"] == "Accept")
        }
    }
}
