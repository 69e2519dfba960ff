import ConnectionTestSupport
import Foundation
import Postgres
import SelfieApp
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts

@Suite("Hashes of the original", .timeLimit(.minutes(2)))
struct LegacyHashTests {
    private static func hash(_ service: TestService) async throws -> String {
        let rows = try await service.postgres.read("SELECT password_hash FROM users")
        return try #require(rows.first).decode("password_hash")
    }

    /// Runs a body with a service whose hashes cost 5, and an account whose hash is railsauth's, of cost 4.
    private static func run(
        settings: [String: String] = [:],
        gate: ThreadGate = .recorder(),
        _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await TestService.run(
            settings: settings,
            adjust: { service in
                service.passwordHashCost = 5
                service.waitsPatiently()
                service.computesHashes(threads: 8, through: gate)
            }
        ) { service in
            defer { gate.open() }
            try await service.addUser(email: "Ada@Example.com", cost: 4)
            try await body(service)
        }
    }

    @Test("They sign in, and are renewed once where today's cost is higher")
    func renewal() async throws {
        try await Self.run { service in
            let legacy = try await Self.hash(service)
            #expect(legacy.hasPrefix("$2a$04$"))
            #expect(try await service.signIn(email: "ada@example.com", password: "wrong").status == 401)
            #expect(try await Self.hash(service) == legacy)
            let encrypted = try TestService.encrypt("my password").formEncoded
            try await service.check([
                Scenario(
                    "HEAD renews nothing",
                    "HEAD /api/get_token?email=ada@example.com&password=\(encrypted)",
                    authorization: TestService.basic,
                    event: "password_checked"
                )
            ])
            _ = try await service.newToken()
            let renewed = try await Self.hash(service)
            #expect(renewed.hasPrefix("$2b$05$"))
            _ = try await service.newToken()
            #expect(try await Self.hash(service) == renewed)
            #expect(try await service.signIn(email: "ada@example.com", password: "wrong").status == 401)
        }
    }

    @Test("Those of cost 10, which railsauth made, are left alone where they are as strong as today's")
    func noRenewal() async throws {
        try await TestService.run(settings: ["PASSWORD_HASH_COST": "10"]) { service in
            try await service.addUser(email: "ada@example.com", password: "pässwörd", cost: 10)
            let legacy = try await Self.hash(service)
            _ = try await service.newToken(password: "pässwörd")
            #expect(try await Self.hash(service) == legacy)
        }
    }

    @Test("Sign-ins at once, each of which finds a weak hash, all succeed")
    func parallelRenewal() async throws {
        let gate = ThreadGate()
        try await Self.run(gate: gate) { service in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 0..<6 { tasks.addTask { try await service.signIn(email: "ada@example.com").status } }
                try await poll("all have found the weak hash") { gate.heldCount == 6 }
                gate.open()
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 6))
            // Each checks the weak hash and makes a new one; those whose new one comes too late check the other's.
            #expect(gate.passed.sorted() == Array(repeating: 4, count: 6) + Array(repeating: 5, count: 6 + 5))
            #expect(try await Self.hash(service).hasPrefix("$2b$05$"))
            #expect(try await service.count("SELECT count(*) FROM sessions") == 6)
        }
    }

    @Test("A reset that a renewal comes before, though it began earlier, succeeds")
    func resetDuringRenewal() async throws {
        // The reset checks the old password, and is held up where it makes the new one's hash.
        let gate = ThreadGate { number, _ in number == 2 }
        try await Self.run(settings: ["GET_TOKEN_WITHOUT_PASSWORD": "true"], gate: gate) { service in
            let headers = [("Authorization", TestService.basic)]
            let gotten = try await service.send("GET", "/api/get_token?email=ada@example.com", headers: headers)
            let token = try TestService.token(of: gotten)
            async let reset = service.sendForm(
                "POST",
                "/api/reset_password",
                authorization: tokenHeader(token),
                [
                    ("old_password", try TestService.encrypt("my password")),
                    ("new_password", try TestService.encrypt("my new password")),
                ]
            )
            try await poll("the reset makes the new hash") { gate.heldCount == 1 }
            #expect(try await service.signIn(email: "ada@example.com").status == 200)
            #expect(try await Self.hash(service).hasPrefix("$2b$05$"))
            gate.open()
            let changed = try await reset
            #expect(changed.status == 200, "\(changed.text)")
            // It checks the renewed hash too, and makes the new one but once.
            #expect(gate.passed == [4, 5, 4, 5, 5])
            #expect(try await service.signIn(email: "ada@example.com").status == 401)
            #expect(try await service.signIn(email: "ada@example.com", password: "my new password").status == 200)
            #expect(try await service.count("SELECT count(*) FROM sessions") == 2)
        }
    }

    @Test("A renewal that comes after a new password does not bring the old one back")
    func renewalDuringReset() async throws {
        // The sign-in checks the password, and is held up where it renews the hash.
        let gate = ThreadGate { number, _ in number == 2 }
        try await Self.run(gate: gate) { service in
            async let signIn = service.signIn(email: "ada@example.com")
            try await poll("the sign-in renews the hash") { gate.heldCount == 1 }
            let new = try BCrypt.hash(Array("my new password".utf8), cost: 5)
            try await service.postgres.write("UPDATE users SET password_hash = \(new)")
            gate.open()
            #expect(try await signIn.status == 401)
            #expect(try await Self.hash(service) == new)
            #expect(try await service.count("SELECT count(*) FROM sessions") == 0)
            #expect(try await service.signIn(email: "ada@example.com", password: "my new password").status == 200)
        }
    }
}
