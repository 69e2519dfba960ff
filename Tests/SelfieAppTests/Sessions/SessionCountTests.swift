import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@testable import SelfieAccounts

@Suite("The number of a user's sessions", .timeLimit(.minutes(2)))
struct SessionCountTests {
    @Test("A sign-in beyond a hundred ends the session that was unused for longest")
    func oldest() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let bob = try await service.makeToken(email: "bob@example.com")
            try await service.postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at, last_used_at)
                SELECT user_id, sha256(convert_to('token-' || number, 'UTF8')), expires_at,
                    last_used_at - make_interval(days => CASE number WHEN 50 THEN 9 ELSE 1 END)
                FROM sessions JOIN users ON users.id = user_id, generate_series(2, 100) AS number
                WHERE email = 'ada@example.com'
                """
            )
            #expect(SessionStore.maxCount == 100)
            #expect(try await service.list(token: "token-50").status == 200)
            let new = try await service.newToken()
            #expect(try await service.list(token: "token-50").status == 401)
            for other in [token, "token-2", "token-100", new, bob] {
                #expect(try await service.list(token: other).status == 200)
            }
            #expect(try await service.count("SELECT count(*) FROM sessions") == 101)
        }
    }

    @Test("A sign-in leaves a hundred networks known, its own and those used last")
    func knownAddresses() async throws {
        try await TestService.run { service in
            for name in ["ada", "bob"] {
                _ = try await service.makeToken(email: "\(name)@example.com")
                try await service.postgres.write(
                    """
                    INSERT INTO known_addresses (user_id, network, last_used_at)
                    SELECT id, number::text, now() AT TIME ZONE 'UTC' - make_interval(hours => number)
                    FROM users, generate_series(1, 1050) AS number WHERE email = \("\(name)@example.com")
                    """
                )
            }
            _ = try await service.newToken()
            let known = "SELECT count(*) FROM known_addresses JOIN users ON users.id = user_id WHERE email"
            let last = PostgresQuery(
                stringLiteral: "\(known) = 'ada@example.com' AND network IN ('1', '99', '127.0.0.1')"
            )
            #expect(try await service.count(PostgresQuery(stringLiteral: "\(known) = 'ada@example.com'")) == 100)
            #expect(try await service.count(last) == 3)
            #expect(try await service.count(PostgresQuery(stringLiteral: "\(known) = 'bob@example.com'")) == 1_051)
        }
    }

    @Test("Sign-ins at once leave hardly more, and the next one tidies up")
    func race() async throws {
        try await TestService.run { service in
            _ = try await service.makeToken()
            try await service.postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at)
                SELECT user_id, sha256(convert_to(number::text, 'UTF8')), expires_at FROM sessions, generate_series(2, 600) AS number
                """
            )
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 0..<8 { tasks.addTask { try await service.signIn(email: "ada@example.com").status } }
                return try await tasks.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 8])
            #expect(try await service.count("SELECT count(*) FROM sessions") <= 108)
            _ = try await service.newToken()
            #expect(try await service.count("SELECT count(*) FROM sessions") == 100)
        }
    }

    /// Gives the account of a token so many sessions.
    private func addSessions(_ count: Int, _ service: TestService) async throws {
        for start in stride(from: 0, to: count, by: 30_000) {
            try await service.postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at)
                SELECT users.id, sha256(convert_to('many-' || number, 'UTF8')), now() + interval '1 year'
                FROM users, generate_series(\(start + 1), \(start + 30_000)) AS number
                """
            )
        }
    }

    @Test("Any number of sessions is ended with one call", arguments: ["clear", "reset", "delete"])
    func many(call: String) async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            try await addSessions(60_000, service)
            let password = ("password", try TestService.encrypt("my password"))
            let answer =
                switch call {
                case "clear":
                    try await service.send(
                        "GET",
                        "/api/clear_token?all=true",
                        headers: [("Authorization", tokenHeader(token))]
                    )
                case "reset":
                    try await service.sendForm(
                        "POST",
                        "/api/reset_password",
                        authorization: tokenHeader(token),
                        [("old_password", password.1), ("new_password", try TestService.encrypt("another one"))]
                    )
                default:
                    try await service.sendForm(
                        "DELETE",
                        "/api/account",
                        authorization: tokenHeader(token),
                        [password]
                    )
                }
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try await service.count("SELECT count(*) FROM sessions") == (call == "reset" ? 1 : 0))
            #expect(try await service.list(token: "many-44444").status == 401)
        }
    }
}
