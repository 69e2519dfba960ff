import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieApp

@Suite("Limits of what may be done how often", .timeLimit(.minutes(3)))
struct RateLimitTests {
    /// A header that a proxy would set, for `TRUSTED_PROXIES=1`.
    private static func from(_ address: String) -> [(String, String)] { [("X-Forwarded-For", address)] }

    private static func settings(_ limits: [String: String]) -> [String: String] {
        ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1"].merging(limits) { $1 }
    }

    /// Expects that it was noted, once, that a limit began to refuse.
    private static func expectNoted(
        _ event: String,
        ofUser hasUser: Bool = false,
        by service: TestService
    ) async throws {
        let rows = try await service.postgres.read(
            "SELECT user_id, address FROM audit_events WHERE event = \(event)"
        )
        #expect(rows.count == 1)
        let (userID, address): (Int?, String) = (
            try rows.first?.decodeIfPresent("user_id"), try #require(rows.first).decode("address")
        )
        #expect((userID != nil) == hasUser)
        #expect(address.hasPrefix(hasUser ? "127." : "192.0.2."))
    }

    @Test("Sign-ups with one e-mail are limited from wherever they come, but not by accounts that were made")
    func signUpsOfEmail() async throws {
        let settings = Self.settings(["RATE_LIMIT_SIGNIN_PER_ACCOUNT": "2/15m"])
        try await TestService.run(settings: settings) { service in
            for number in 0..<4 {
                let answer = try await service.signUp(
                    email: number % 2 == 0 ? "ada@example.com" : " ADA@example.com",
                    headers: Self.from("192.0.2.\(number)")
                )
                #expect(answer.status == [200, 400, 400, 429][number], "\(number): \(answer.text)")
            }
            // It is another count than that of passwords.
            #expect(try await service.signIn(email: "ada@example.com", headers: Self.from("192.0.2.9")).status == 200)
            let short = try await service.signUp(email: "ada@example.com", password: "12345")
            #expect(short.status == 400 && !short.text.contains("taken"), "\(short.text)")
        }
    }

    @Test("Changes of a profile and of blocks count like writes of records")
    func profiles() async throws {
        let settings = Self.settings(["RATE_LIMIT_RECORD_WRITES_PER_USER": "3/10m"])
        try await TestService.run(settings: settings) { service in
            let token = try await service.addSession()
            let bob = try await service.addSession(name: "bob")
            let id = try await service.memberID("bob")
            let calls = [
                ("PATCH", "/api/me", #"{"title":"A"}"#), ("PUT", "/api/blocks/\(id)", nil),
                ("DELETE", "/api/blocks/\(id)", nil),
            ]
            for status in [200, 429] {
                for (method, path, body) in calls {
                    let answer = try await service.call(method, path, token: token, json: body)
                    #expect(answer.status == status, "\(method): \(answer.text)")
                }
            }
            #expect(try await service.call("GET", "/api/me", token: token).status == 200)
            #expect(try await service.call("PATCH", "/api/me", token: bob, json: #"{"title":"B"}"#).status == 200)
        }
    }

    @Test("Sign-ups of an address are limited, with RateLimit headers, and a refused one leaves no row")
    func signUps() async throws {
        try await TestService.run(settings: Self.settings(["RATE_LIMIT_SIGNUP_PER_ADDRESS": "2/1h"])) { service in
            for number in 0..<3 {
                let answer = try await service.signUp(email: "a\(number)@example.com", headers: Self.from("192.0.2.1"))
                #expect(answer.status == (number < 2 ? 200 : 429))
                guard number == 2 else { continue }
                #expect(
                    answer.text
                        == #"{"status":429,"message":"Too many requests. Please try again later!","code":"too_many_requests"}"#
                )
                #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
                #expect(answer.headers["ratelimit-limit"] == "2")
                #expect(answer.headers["ratelimit-remaining"] == "0")
                #expect(answer.headers["ratelimit-policy"] == "2;w=3600")
                let reset = try #require(answer.headers["ratelimit-reset"].flatMap { Int($0) })
                #expect((3_500...3_600).contains(reset))
                #expect(answer.headers["retry-after"] == "\(reset)")
            }
            #expect(try await service.count("SELECT count(*) FROM users") == 2)
            #expect(try await service.signUp(email: "b@example.com", headers: Self.from("192.0.2.2")).status == 200)
            try await Self.expectNoted("sign_up_limited", by: service)
        }
    }

    @Test("Sign-ups that break the rules count like all others, and so do those for e-mails that are taken")
    func invalidSignUps() async throws {
        try await TestService.run(settings: Self.settings(["RATE_LIMIT_SIGNUP_PER_ADDRESS": "3/1h"])) { service in
            let signUp = { (email: String, password: String) in
                try await service.signUp(email: email, password: password, headers: Self.from("192.0.2.1")).status
            }
            #expect(try await signUp("ada@example.com", "my password") == 200)
            #expect(try await signUp("no e-mail", "short") == 400)
            #expect(try await signUp("ada@example.com", "my password") == 400)
            for email in ["no e-mail", "ada@example.com", "bob@example.com"] {
                #expect(try await signUp(email, "my password") == 429)
            }
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
            try await Self.expectNoted("sign_up_limited", by: service)
        }
    }

    @Test("get_token is limited by address, with and without a password", arguments: ["false", "true"])
    func getToken(withoutPassword: String) async throws {
        let settings = ["RATE_LIMIT_GET_TOKEN_PER_ADDRESS": "3/1h", "GET_TOKEN_WITHOUT_PASSWORD": withoutPassword]
        try await TestService.run(settings: Self.settings(settings)) { service in
            #expect(try await service.signUp(email: "ada@example.com").status == 200)
            let parameters = [("email", "ada@example.com"), ("password", try TestService.encrypt("my password"))]
            for (number, address) in ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"].enumerated() {
                let answer = try await service.sendForm(
                    "GET",
                    "/api/get_token",
                    authorization: TestService.basic,
                    parameters,
                    headers: Self.from(address)
                )
                #expect(answer.status == (number == 3 ? 429 : 200))
            }
            try await Self.expectNoted("get_token_limited", by: service)
        }
    }

    @Test("A client that guesses tokens is refused, and one with a token at the same address is not")
    func tokenGuesses() async throws {
        let settings = Self.settings(["RATE_LIMIT_TOKEN_GUESSES_PER_ADDRESS": "4/1h"])
        try await TestService.run(settings: settings) { service in
            let token = try await service.makeToken()
            let call = { (method: String, target: String, token: String) in
                let headers = [("Authorization", "Token token=\(token)"), ("X-Forwarded-For", "192.0.2.1")]
                return try await service.send(method, target, headers: headers).status
            }
            let guesses = [
                ("GET", "/api/get_photos"), ("GET", "/api/sessions"), ("DELETE", "/api/delete_photo"),
                ("POST", "/api/upload_photo"),
            ]
            for (method, target) in guesses { #expect(try await call(method, target, "guess") == 401) }
            for (method, target) in guesses { #expect(try await call(method, target, "guess") == 429) }
            #expect(try await call("GET", "/api/get_photos", token) == 200)
            #expect(try await call("GET", "/api/sessions", token) == 200)
            try await Self.expectNoted("token_guesses_limited", by: service)
            // A request without a token is not a guess.
            #expect(try await service.send("GET", "/api/get_photos", headers: Self.from("192.0.2.1")).status == 401)
        }
    }

    @Test("Uploads are limited by user, not by session, and one too many is refused before its body")
    func uploads() async throws {
        try await TestService.run(settings: Self.settings(["RATE_LIMIT_UPLOADS_PER_USER": "3/1h"])) { service in
            let tokens = [try await service.makeToken(), try await service.newToken()]
            for number in 0..<4 {
                let status = try await service.upload(token: tokens[number % 2]).status
                #expect(status == (number < 3 ? 200 : 429))
            }
            #expect(try await service.count("SELECT count(*) FROM photos") == 3)
            #expect(service.objects.keys().count == 3)
            try await Self.expectNoted("uploads_limited", ofUser: true, by: service)
            let other = try await service.makeToken(email: "bob@example.com")
            #expect(try await service.upload(token: other).status == 200)
        }
    }

    @Test("Passwords tried with a token are limited by session: one session locks out no other")
    func passwordsOfSession() async throws {
        try await TestService.run(settings: Self.settings(["RATE_LIMIT_SIGNIN_PER_ACCOUNT": "3/1h"])) { service in
            let tokens = [try await service.makeToken(), try await service.newToken()]
            let wrong = try TestService.encrypt("wrong password")
            let reset = { (old: String, token: String) in
                try await service.sendForm(
                    "POST",
                    "/api/reset_password",
                    authorization: tokenHeader(token),
                    [("old_password", old), ("new_password", try TestService.encrypt("new password"))]
                )
            }
            let leave = { (token: String) in
                try await service.sendForm(
                    "DELETE",
                    "/api/account",
                    authorization: tokenHeader(token),
                    [("password", wrong)]
                )
            }
            #expect(try await reset(wrong, tokens[0]).status == 401)
            #expect(try await leave(tokens[0]).status == 401)
            #expect(try await reset(wrong, tokens[0]).status == 401)
            #expect(try await leave(tokens[0]).status == 429)
            let right = try TestService.encrypt("my password")
            #expect(try await reset(right, tokens[0]).status == 429)
            try await Self.expectNoted("password_limited", ofUser: true, by: service)
            // The session itself is as good as ever.
            #expect(try await service.list(token: tokens[0]).status == 200)
            // Another of the same user has tries of its own, whichever call they are for.
            for status in [401, 401, 401, 429] { #expect(try await leave(tokens[1]).status == status) }
            let third = try await service.newToken()
            #expect(try await reset(wrong, third).status == 401)
            #expect(try await reset(right, third).status == 200)
        }
    }

    @Test("Right passwords do not count, and a window that ends begins again")
    func windows() async throws {
        let uptime = ManualTime()
        try await TestService.run(
            settings: Self.settings(["RATE_LIMIT_SIGNIN_PER_ACCOUNT": "2/1h"]),
            adjust: { $0.clock = uptime }
        ) { service in
            _ = try await service.signUp(email: "ada@example.com", headers: Self.from("192.0.2.9"))
            let signIn = { (password: String) in
                try await service.signIn(email: "ada@example.com", password: password, headers: Self.from("192.0.2.9"))
                    .status
            }
            for _ in 0..<4 { #expect(try await signIn("my password") == 200) }
            for status in [401, 401, 429] { #expect(try await signIn("wrong password") == status) }
            #expect(try await signIn("my password") == 429)
            try await service.postgres.write(
                "UPDATE rate_limits SET window_ends_at = now() AT TIME ZONE 'UTC' - interval '1 second'"
            )
            // A refusal is remembered for a second.
            uptime.advance(by: .milliseconds(999))
            #expect(try await signIn("my password") == 429)
            uptime.advance(by: .milliseconds(1))
            for status in [401, 401, 429] { #expect(try await signIn("wrong password") == status) }
        }
    }

    @Test("A count is given back only to its own window")
    func givenBackLate() async throws {
        try await TestService.run(settings: Self.settings([:])) { service in
            let (store, limit) = (RateLimitStore(postgres: service.postgres), RateLimit(5, per: 3_600))
            func count() async throws -> RateLimitStore.Increment? {
                guard case .counted(let increment) = try await store.count("key", amount: 1, limit: limit) else {
                    return nil
                }
                return increment
            }
            let first = try #require(try await count())
            try await service.postgres.write(
                "UPDATE rate_limits SET window_ends_at = now() AT TIME ZONE 'UTC' - interval '1 second'"
            )
            let second = try #require(try await count())
            let stored = { try await service.count("SELECT count::bigint AS count FROM rate_limits") }
            #expect(try await stored() == 1)
            try await store.giveBack([first])
            #expect(try await stored() == 1)
            _ = try await count()
            #expect(try await stored() == 2)
            try await store.giveBack([second])
            #expect(try await stored() == 1)
        }
    }

    @Test("A flood of refused calls costs a statement a second, not one for each")
    func flood() async throws {
        let settings = Self.settings(["RATE_LIMIT_SIGNIN_PER_ACCOUNT": "2/1h"])
        let uptime = ManualTime()
        try await TestService.run(settings: settings, adjust: { $0.clock = uptime }) { service in
            for statement in [
                "CREATE SEQUENCE statements",
                """
                CREATE FUNCTION count_statement() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM nextval('statements'); RETURN NULL; END $$
                """,
                """
                CREATE TRIGGER counted AFTER INSERT OR UPDATE ON rate_limits
                FOR EACH STATEMENT EXECUTE FUNCTION count_statement()
                """,
            ] as [PostgresQuery] {
                try await service.postgres.write(statement)
            }
            let statements = { try await service.count("SELECT last_value AS count FROM statements") }
            var last: HTTPAnswer?
            for number in 0..<60 {
                last = try await service.signIn(
                    email: "nobody@example.com",
                    headers: Self.from("192.0.2.\(number)")
                )
                #expect(last?.status == (number < 2 ? 401 : 429))
            }
            #expect(last?.headers["ratelimit-policy"] == "2;w=3600")
            #expect((3_000...3_600).contains(try #require(last?.headers["retry-after"].flatMap { Int($0) })))
            // Three count for address and account, each as an insert that may become an update, and one gives back. Two
            // are tried, and count for that.
            #expect(try await statements() == 3 * 2 * 2 + 1 + 2 * 2)
            uptime.advance(by: .seconds(1))
            for number in 60..<90 {
                let answer = try await service.signIn(
                    email: "nobody@example.com",
                    headers: Self.from("192.0.2.\(number)")
                )
                #expect(answer.status == 429)
            }
            #expect(try await statements() == 3 * 2 * 2 + 1 + 2 * 2 + 2 * 2 + 1)
        }
    }

    @Test("Counts contain no names, and those of ended windows are removed")
    func counts() async throws {
        let settings = Self.settings([:])
        try await TestService.run(settings: settings, adjust: { $0.tidyInterval = .milliseconds(20) }) { service in
            _ = try await service.signIn(email: "nobody@example.com", headers: Self.from("192.0.2.1"))
            let rows = try await service.postgres.read("SELECT key FROM rate_limits")
            #expect(rows.count == 3)
            for row in rows {
                let key: String = try row.decode("key")
                #expect(key.contains(/^[0-9a-f]{64}$/))
            }
            try await service.postgres.write(
                "UPDATE rate_limits SET window_ends_at = now() AT TIME ZONE 'UTC' - interval '1 second'"
            )
            try await poll("the counts are removed") {
                try await service.count("SELECT count(*) FROM rate_limits") == 0
            }
        }
    }

    @Test("RATE_LIMITS=off counts nothing, and says so at the start")
    func off() async throws {
        let settings = ["RATE_LIMITS": "off", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "1/1h"]
        try await TestService.run(settings: settings) { service in
            for _ in 0..<3 {
                let answer = try await service.signIn(email: "nobody@example.com")
                #expect(answer.status == 401)
            }
            let count = try await service.count("SELECT count(*) FROM rate_limits")
            #expect(count == 0)
            #expect(service.log.entries.contains { $0.hasPrefix("warning RATE_LIMITS is off") })
        }
    }
}
