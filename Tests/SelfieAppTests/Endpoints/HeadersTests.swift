import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Headers of every answer")
struct HeadersTests {
    private static let kept = ["a", "A-1", "0", "-", String(repeating: "x", count: 255), "7b3f-QQ-00"]
    private static let replaced = [
        "", " ", "a b", "a_b", "a.b", "a,b", "ü", "<x>", "a\tb", String(repeating: "x", count: 256), "a%20",
    ]

    @Test("X-Request-Id is the client's own where that is plain, and a new one otherwise")
    func requestID() async throws {
        try await TestService.run { service in
            var seen: Set<String> = []
            for target in ["/", "/nope", "/api/get_photos", "/photos/x"] {
                for id in Self.kept {
                    let answer = try await service.send("GET", target, headers: [("X-Request-Id", id)])
                    #expect(answer.headers["x-request-id"] == id, "\(target)")
                    #expect(service.log.text.contains("request_id=\(id) "))
                }
                for id in Self.replaced {
                    let answer = try await service.send("GET", target, headers: [("x-request-id", id)])
                    let made = try #require(answer.headers["x-request-id"])
                    #expect(made != id && made.wholeMatch(of: /[A-Za-z0-9-]{16,255}/) != nil, "\(target): \(id)")
                    #expect(seen.insert(made).inserted)
                }
            }
            let twice = try await service.send("GET", "/", headers: [("X-Request-Id", "a"), ("X-Request-Id", "b")])
            #expect(twice.headers["x-request-id"] != "a")
            #expect(twice.headers["x-request-id"] != "b")
        }
    }

    @Test("Each answer has its date in the form of RFC 9110")
    func date() async throws {
        try await TestService.run { service in
            for target in ["/", "/nope", "/api/get_photos", "/photos/x"] {
                let date = try #require(try await service.send("GET", target).headers["date"], "\(target)")
                #expect(date.wholeMatch(of: /[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/) != nil)
            }
        }
    }

    @Test("no-store is where a token is, and nowhere else")
    func noStore() async throws {
        try await TestService.run { service in
            let password = try TestService.encrypt("my password")
            #expect(try await service.signUp(email: "ada@example.com").headers["cache-control"] == nil)
            let signIn = try await service.signIn(email: "ada@example.com")
            #expect(signIn.headers["cache-control"] == "no-store")
            let token = try #require(signIn.json["api_authtoken"] as? String)
            let gotten = try await service.sendForm(
                "GET",
                "/api/get_token",
                authorization: TestService.basic,
                [("email", "ada@example.com"), ("password", password)]
            )
            #expect(gotten.headers["cache-control"] == "no-store")
            let reset = try await service.sendForm(
                "POST",
                "/api/reset_password",
                authorization: tokenHeader(token),
                [("old_password", password), ("new_password", password)]
            )
            #expect(reset.headers["cache-control"] == "no-store")
            let newToken = try #require(reset.json["api_authtoken"] as? String)
            let list = try await service.list(token: newToken)
            #expect(list.headers["cache-control"]?.contains("private") == true)
            #expect(list.headers["content-type"]?.hasPrefix("application/json") == true)
        }
    }
}
