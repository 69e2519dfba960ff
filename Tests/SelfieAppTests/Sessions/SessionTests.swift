import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Sessions")
struct SessionTests {
    /// Which of some tokens still work.
    private static func alive(_ tokens: [String], _ service: TestService) async throws -> [Bool] {
        var alive: [Bool] = []
        for token in tokens { alive.append(try await service.list(token: token).status == 200) }
        return alive
    }

    @Test("Each sign-in has a session of its own, and clear_token ends the one it is called with")
    func clearOne() async throws {
        try await TestService.run { service in
            var tokens = [try await service.makeToken()]
            for _ in 0..<4 { tokens.append(try await service.newToken()) }
            #expect(Set(tokens).count == 5)
            let clears = [
                ("GET /api/clear_token", Scenario.Payload.none), ("POST /api/clear_token", .json(#"{"all":"false"}"#)),
                ("DELETE /api/clear_token", .form([("all", "")])), ("POST /api/clear_token", .form([("all", "0")])),
            ]
            for (index, (request, payload)) in clears.enumerated() {
                try await service.check(
                    Scenario(
                        request,
                        request,
                        authorization: tokenHeader(tokens[index]),
                        payload,
                        message: "Token cleared"
                    )
                )
                #expect(try await Self.alive(tokens, service) == tokens.indices.map { $0 > index })
            }
            #expect(try await service.count("SELECT count(*) FROM sessions") == 1)
        }
    }

    @Test("all=true ends every session of that user, and no other")
    func clearAll() async throws {
        try await TestService.run(settings: ["GET_TOKEN_WITHOUT_PASSWORD": "true"]) { service in
            let bob = try await service.makeToken(email: "bob@example.com")
            _ = try await service.signUp(email: "ada@example.com")
            let forms: [(query: String, payload: Scenario.Payload)] = [
                ("?all=true", .none), ("", .form([("all", "true")])), ("", .json(#"{"all":true}"#)),
                ("", .multipart([("all", "true")])), ("?all=1", .none), ("?all=TRUE", .none),
                ("", .json(#"{"all":"yes"}"#)),
            ]
            for method in ["GET", "POST", "DELETE"] {
                for (query, payload) in forms {
                    let ada = [try await Self.cheapToken(service), try await Self.cheapToken(service)]
                    try await service.check(
                        Scenario(
                            "\(method) \(payload)",
                            "\(method) /api/clear_token\(query)",
                            authorization: tokenHeader(ada[1]),
                            payload,
                            message: "Token cleared"
                        )
                    )
                    #expect(try await Self.alive(ada + [bob], service) == [false, false, true])
                }
            }
        }
    }

    @Test("Other values than yes and no are refused, so that no client believes that all sessions have ended")
    func clearNone() async throws {
        try await TestService.run { service in
            let tokens = [try await service.makeToken(), try await service.newToken()]
            for method in ["GET", "POST", "DELETE"] {
                for all in ["all", "2", "ture", "nein"] {
                    try await service.check(
                        Scenario(
                            "\(method) \(all)",
                            "\(method) /api/clear_token?all=\(all)",
                            authorization: tokenHeader(tokens[0]),
                            status: 400,
                            message: "all - is invalid (true or false),"
                        )
                    )
                }
            }
            #expect(try await Self.alive(tokens, service) == [true, true])
        }
    }

    private static func cheapToken(_ service: TestService) async throws -> String {
        let headers = [("Authorization", TestService.basic)]
        let answer = try await service.send("GET", "/api/get_token?email=ada@example.com", headers: headers)
        return try #require(answer.json["api_authtoken"] as? String)
    }

    private static func reset(_ name: String, old: String, new: String, token: String) throws -> Scenario {
        Scenario(
            name,
            "POST /api/reset_password",
            authorization: tokenHeader(token),
            .form([("old_password", try TestService.encrypt(old)), ("new_password", try TestService.encrypt(new))])
        )
    }

    @Test("reset_password ends all sessions, gives a new one, and the new password counts from then on")
    func reset() async throws {
        try await TestService.run { service in
            let tokens = [try await service.makeToken(), try await service.newToken()]
            let bob = try await service.makeToken(email: "bob@example.com")
            let answer = try await service.check(
                try Self.reset("reset", old: "my password", new: "my new password", token: tokens[0])
            )
            let values = try #require(answer.json as? [String: String])
            let (token, expiry) = (values["api_authtoken"] ?? "", values["authtoken_expiry"] ?? "")
            #expect(
                answer.text == #"{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com","#
                    + #""api_authtoken":"\#(token)","authtoken_expiry":"\#(expiry)","id":"\#(values["id"] ?? "")"}"#
            )
            #expect(try await Self.alive(tokens + [token, bob], service) == [false, false, true, true])
            #expect(try await service.signIn(email: "ada@example.com").message == Refusal.wrongCredentials)
            #expect(try await service.signIn(email: "ada@example.com", password: "my new password").status == 200)
        }
    }

    @Test("A reset that is refused changes nothing")
    func refusedReset() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let old = "my password"
            var refusals: [(Scenario, Int, String)] = [
                (try Self.reset("wrong", old: "wrong", new: "new password", token: token), 401, Refusal.wrongPassword),
                (try Self.reset("both wrong", old: "wrong", new: "x", token: token), 401, Refusal.wrongPassword),
                (try Self.reset("short", old: old, new: "12345", token: token), 400, Refusal.passwordTooShort),
                (try Self.reset("empty", old: old, new: "", token: token), 400, Refusal.passwordTooShort),
                (try Self.reset("NUL", old: old, new: "123456\0", token: token), 400, "password - is invalid,"),
            ]
            let long = String(repeating: "x", count: 73)
            refusals.append((try Self.reset("long", old: old, new: long, token: token), 400, Refusal.passwordTooLong))
            for name in ["old_password", "new_password"] {
                let scenario = Scenario(
                    "only \(name)",
                    "POST /api/reset_password",
                    authorization: tokenHeader(token),
                    .form([(name, "x")])
                )
                refusals.append((scenario, 400, Refusal.missing))
            }
            for (scenario, status, message) in refusals {
                var scenario = scenario
                scenario.status = status
                scenario.message = message
                scenario.event = message == Refusal.wrongPassword ? "password_reset_failed" : nil
                try await service.check(scenario)
            }
            #expect(try await service.list(token: token).status == 200)
            #expect(try await service.signIn(email: "ada@example.com").status == 200)
        }
    }
}
