import AESCrypt
import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts

@Suite("What is given back of counts", .timeLimit(.minutes(2)))
struct GivenBackTests {
    private static let settings = [
        "RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "3/1h",
    ]

    /// Runs a body with a service that computes one hash at a time, once its gate is open.
    private static func run(
        _ body: @Sendable (TestService, ThreadGate) async throws -> Void
    ) async throws {
        let gate = ThreadGate()
        gate.open()
        try await TestService.run(
            settings: settings,
            adjust: { service in
                service.waitsPatiently()
                service.doesNothingByItself()
                service.computesHashes(threads: 1, through: gate)
            }
        ) { service in
            defer { gate.open() }
            _ = try await service.signUp(email: "ada@example.com", headers: [("X-Forwarded-For", "198.51.100.7")])
            try await service.postgres.write("DELETE FROM rate_limits")
            gate.close()
            try await body(service, gate)
        }
    }

    /// How often what was counted, in order.
    private static func counts(_ service: TestService) async throws -> [Int] {
        try await service.postgres.read("SELECT count FROM rate_limits ORDER BY count").map { try $0.decode("count") }
    }

    /// Counts a password and tries it, in a task of its own.
    private static func trial(
        _ password: String,
        _ service: TestService,
        _ hasher: PasswordHasher
    ) throws -> Task<Bool, any Error> {
        let cipher = AESCrypt(passphrase: TestService.apiPassword)
        let password = try #require(Password(try TestService.encrypt(password), cipher: cipher))
        let hash = try BCrypt.hash(Array("my password".utf8), cost: 4)
        let limiter = RateLimiter(
            store: RateLimitStore(postgres: service.postgres),
            audit: AuditStore(postgres: service.postgres),
            limits: RateLimits(),
            secret: "secret",
            clock: ContinuousClock()
        )
        return Task {
            let source = RequestSource(address: .none, requestID: "request")
            var counted = try await limiter.count([.passwordOfSession(id: 1)], ofUser: nil, from: source)
            return try await limiter.givingBack(&counted) {
                try await hasher.verify(password, against: hash, for: source.caller(.user(id: 1)))
            }
        }
    }

    private static func hasher(gate: ThreadGate) throws -> PasswordHasher {
        var options = PasswordHasherOptions(coreCount: 2)
        (options.threadCount, options.waitingPerNetworkAndThread) = (1, 1)
        options.willCompute = { gate.pass($0) }
        options.clock = ManualTime()
        return try PasswordHasher(cost: 4, options: options)
    }

    @Test("A password whose client disconnects while it waits stays counted as wrong")
    func gone() async throws {
        try await Self.run { service, gate in
            let hasher = try Self.hasher(gate: gate)
            async let other = hasher.verify(nil, against: nil, for: RequestSource.test.caller(.user(id: 1)))
            try await poll("the thread is at work") { gate.heldCount == 1 }
            let trial = try Self.trial("my password", service, hasher)
            try await poll("the password waits") { hasher.waitingCount == 1 }
            #expect(try await Self.counts(service) == [1])
            trial.cancel()
            gate.open()
            await #expect(throws: CancellationError.self) { try await trial.value }
            #expect(try await !other)
            #expect(try await Self.counts(service) == [1])
            try await hasher.shutDown()
        }
    }

    @Test("So does one whose client disconnects while it is checked, unless it is right", arguments: [false, true])
    func goneMeanwhile(isRight: Bool) async throws {
        try await Self.run { service, gate in
            let hasher = try Self.hasher(gate: gate)
            let trial = try Self.trial(isRight ? "my password" : "wrong password", service, hasher)
            try await poll("the password is being tried") { gate.heldCount == 1 }
            #expect(try await Self.counts(service) == [1])
            trial.cancel()
            gate.open()
            #expect(try await trial.value == isRight)
            #expect(try await Self.counts(service) == [isRight ? 0 : 1])
            try await hasher.shutDown()
        }
    }

    @Test("A password that can't be looked up is not counted", arguments: ["signin", "reset_password", "account"])
    func failure(call: String) async throws {
        try await Self.run { service, gate in
            gate.open()
            let token = try TestService.token(
                of: try await service.signIn(email: "ada@example.com", headers: [("X-Forwarded-For", "198.51.100.7")])
            )
            try await service.postgres.write("DELETE FROM rate_limits")
            // Looking an account up by its e-mail comes before the count, so there is no row; by its id comes behind it.
            try await service.postgres.write("ALTER TABLE users RENAME COLUMN first_name TO elsewhere")
            let password = try TestService.encrypt("wrong password")
            let answer = try await service.sendForm(
                call == "account" ? "DELETE" : "POST",
                "/api/\(call)",
                authorization: call == "signin" ? TestService.basic : tokenHeader(token),
                [
                    ("email", "ada@example.com"), ("password", password), ("old_password", password),
                    ("new_password", password),
                ]
            )
            #expect(answer.status == 500)
            #expect(try await Self.counts(service) == (call == "signin" ? [] : [0, 0]))
        }
    }
}
