import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

@Suite("Hashes of the original", .timeLimit(.minutes(2)))
struct LegacyHashTests {
    /// Adds an account as railsauth kept it: libcrypt computes `$2a$` and `$2b$` alike.
    private static func addUser(_ service: TestService, password: String) async throws -> String {
        let hash = try BCrypt.hash(Array(password.utf8), cost: 10).replacing("$2b$", with: "$2a$")
        try await service.postgres.execute(
            """
            INSERT INTO users (first_name, last_name, email, password_hash, password_salt)
            VALUES ('Ada', 'Lovelace', 'Ada@Example.com', \(hash), \(String(hash.prefix(29))))
            """
        )
        return hash
    }

    private static func hash(_ service: TestService) async throws -> String {
        let rows = try await service.postgres.query("SELECT password_hash FROM users")
        return try #require(rows.first).decode("password_hash")
    }

    @Test("They sign in, and are renewed once where today's cost is higher")
    func renewal() async throws {
        try await TestService.run(settings: ["PASSWORD_HASH_COST": "11"]) { service in
            let legacy = try await Self.addUser(service, password: "my password")
            #expect(try await service.signIn(email: "ada@example.com", password: "wrong").status == 401)
            #expect(try await Self.hash(service) == legacy)
            let encrypted = try TestService.encrypt("my password").formEncoded
            try await service.check([
                Scenario(
                    "HEAD renews nothing",
                    "HEAD /api/get_token?email=ada@example.com&password=\(encrypted)",
                    authorization: TestService.basic
                )
            ])
            _ = try await service.newToken()
            let renewed = try await Self.hash(service)
            #expect(renewed.hasPrefix("$2b$11$"))
            _ = try await service.newToken()
            #expect(try await Self.hash(service) == renewed)
            #expect(try await service.signIn(email: "ada@example.com", password: "wrong").status == 401)
        }
    }

    @Test("They are left alone where they are as strong as today's")
    func noRenewal() async throws {
        try await TestService.run { service in
            let legacy = try await Self.addUser(service, password: "pässwörd")
            _ = try await service.newToken(password: "pässwörd")
            #expect(try await Self.hash(service) == legacy)
        }
    }

    @Test("Sign-ins at once, each of which finds a weak hash, all succeed")
    func parallelRenewal() async throws {
        try await TestService.run(settings: ["PASSWORD_HASH_COST": "11"]) { service in
            _ = try await Self.addUser(service, password: "my password")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 0..<6 { tasks.addTask { try await service.signIn(email: "ada@example.com").status } }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 6))
            #expect(try await Self.hash(service).hasPrefix("$2b$11$"))
            #expect(try await service.count("SELECT count(*) FROM sessions") == 6)
        }
    }

    @Test("A reset at the same time as a renewal succeeds")
    func resetDuringRenewal() async throws {
        try await TestService.run(settings: ["GET_TOKEN_WITHOUT_PASSWORD": "true", "PASSWORD_HASH_COST": "11"]) {
            service in
            _ = try await Self.addUser(service, password: "my password")
            let headers = [("Authorization", TestService.basic)]
            let gotten = try await service.send("GET", "/api/get_token?email=ada@example.com", headers: headers)
            let token = try #require(gotten.json["api_authtoken"] as? String)
            // The sign-in's renewal is computed between the reset's check of the old password and its change.
            async let signIn = service.signIn(email: "ada@example.com")
            async let reset = service.sendForm(
                "POST",
                "/api/reset_password",
                authorization: tokenHeader(token),
                [
                    ("old_password", try TestService.encrypt("my password")),
                    ("new_password", try TestService.encrypt("my new password")),
                ]
            )
            let (begun, changed) = (try await signIn, try await reset)
            #expect(changed.status == 200, "\(changed.text)")
            #expect([200, 401].contains(begun.status))
            #expect(try await service.signIn(email: "ada@example.com", password: "my new password").status == 200)
        }
    }
}
