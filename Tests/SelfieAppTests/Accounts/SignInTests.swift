import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Sign-in")
struct SignInTests {
    @Test("Unknown e-mail and wrong password get one answer, and missing parameters another")
    func refusals() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            let right = try TestService.encrypt("my password")
            let wrong: [(String, String)] = [
                ("ada@example.com", try TestService.encrypt("your password")),
                ("ada@example.com", try TestService.encrypt("My password")),
                ("ada@example.com", try TestService.encrypt("my password ")),
                ("ada@example.com", try TestService.encrypt("my password\0")),
                ("ada@example.com", try TestService.encrypt("")), ("ada@example.com", ""),
                ("ada@example.com", try TestService.encrypt(String(repeating: "x", count: 1000))),
                ("ada@example.com", "my password"), ("bob@example.com", right), ("", right), ("ada", right),
                ("ada@example.com\0", right), ("ada@example.co_", right), ("%", right), ("' OR 1=1 --", right),
            ]
            for request in ["POST /api/signin", "GET /api/get_token"] {
                for (email, password) in wrong {
                    let answer = try await service.check(
                        Scenario(
                            "\(request), \(email) \(password)",
                            request,
                            authorization: TestService.basic,
                            .form([("email", email), ("password", password)]),
                            status: 401,
                            message: Refusal.wrongCredentials,
                            event: "sign_in_failed"
                        )
                    )
                    #expect(answer.headers["www-authenticate"] == nil)
                }
                for parameters in [[], [("email", "ada@example.com")], [("password", right)]] {
                    try await service.check(
                        Scenario(
                            "\(request), \(parameters)",
                            request,
                            authorization: TestService.basic,
                            .form(parameters),
                            status: 400,
                            message: Refusal.missing
                        )
                    )
                }
            }
        }
    }

    @Test("get_token asks for the password, and answers with two keys")
    func getToken() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            let answer = try await service.check(
                Scenario(
                    "right",
                    "GET /api/get_token?email=Ada@Example.com",
                    authorization: TestService.basic,
                    .json(#"{"password":"\#(try TestService.encrypt("my password"))"}"#)
                )
            )
            let values = try #require(answer.json as? [String: String])
            let (token, expiry) = (values["api_authtoken"] ?? "", values["authtoken_expiry"] ?? "")
            #expect(answer.text == #"{"api_authtoken":"\#(token)","authtoken_expiry":"\#(expiry)"}"#)
            #expect(try await service.list(token: token).status == 200)
            #expect(!service.log.text.contains("GET_TOKEN_WITHOUT_PASSWORD"))
        }
    }

    @Test("GET_TOKEN_WITHOUT_PASSWORD gives a token for an e-mail alone, with a warning at start")
    func withoutPassword() async throws {
        try await TestService.run(settings: ["GET_TOKEN_WITHOUT_PASSWORD": "true"]) { service in
            _ = try await service.signUp(email: "ada@example.com")
            let basic = TestService.basic
            for query in ["email=ada@example.com", "email=ADA@example.com&password=wrong"] {
                let answer = try await service.check(
                    Scenario(query, "GET /api/get_token?\(query)", authorization: basic, contains: ["authtoken_expiry"])
                )
                let token = try #require(answer.json["api_authtoken"] as? String)
                #expect(try await service.list(token: token).status == 200)
            }
            try await service.check([
                Scenario(
                    "unknown",
                    "GET /api/get_token?email=bob@example.com",
                    authorization: basic,
                    status: 401,
                    message: Refusal.wrongCredentials
                ),
                Scenario("none", "GET /api/get_token", authorization: basic, status: 400, message: Refusal.missing),
                Scenario(
                    "sign-in asks for it all the same",
                    "POST /api/signin?email=ada@example.com",
                    authorization: basic,
                    status: 400,
                    message: Refusal.missing
                ),
            ])
            let warnings = service.log.entries.filter { $0.hasPrefix("warning GET_TOKEN_WITHOUT_PASSWORD") }
            #expect(warnings.count == 1)
        }
    }
}
