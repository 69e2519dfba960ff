import ConnectionTestSupport
import Foundation
import InMemoryTracing
import Postgres
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieApp

/// The cost of an attempt must not reveal whether an account exists, nor the form of its hash.
@Suite("No oracle", .timeLimit(.minutes(2)))
struct SignInCostTests {
    /// The statements of an attempt, by the functions that make them, and the costs of its hashes.
    private struct Cost: Equatable {
        var statements: [String]
        var hashes: [Int]

        /// The work of the hashes, in rounds of bcrypt.
        var rounds: Int { hashes.map { 1 << $0 }.reduce(0, +) }
    }

    /// Makes attempts, and returns the cost of each.
    private struct Meter: Sendable {
        let service: TestService
        let tracer: InMemoryTracer
        let recorder: ThreadGate

        func cost(of attempt: () async throws -> HTTPAnswer) async throws -> (HTTPAnswer, Cost) {
            tracer.clearAll()
            recorder.forget()
            let answer = try await attempt()
            let names = tracer.finishedSpans.map { $0.operationName.replacing("postgres ", with: "") }
            return (answer, Cost(statements: names, hashes: recorder.passed))
        }
    }

    private static let today = 7
    private static let rounds = 1 << today
    /// Accounts with the oldest hashes, and accounts that do not exist.
    private static let accounts = ["cost4@example.com", "cost5@example.com", "cost6@example.com", "cost7@example.com"]
    private static let nobody = ["nobody@example.com", "no e-mail", ""]
    private static let elsewhere = [("X-Forwarded-For", "203.0.113.1")]

    /// Runs a body with a service whose hashes cost 7, with accounts whose hashes cost 4 to 7.
    ///
    /// Limits are on, so that what they cost is seen too, and too high to be met.
    private static func run(_ body: @Sendable (Meter) async throws -> Void) async throws {
        let settings = [
            "RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "1000000/1d",
            "RATE_LIMIT_SIGNIN_PER_ADDRESS": "1000000/1d", "RATE_LIMIT_GET_TOKEN_PER_ADDRESS": "1000000/1d",
        ]
        let (tracer, recorder) = (InMemoryTracer(), ThreadGate.recorder())
        try await TestService.run(
            settings: settings,
            adjust: { service in
                service.doesNothingByItself()
                service.passwordHashCost = today
                service.configuration.postgres.tracer = tracer
                service.computesHashes(threads: 1, through: recorder)
            }
        ) { service in
            for (email, cost) in zip(accounts, 4...7) { try await service.addUser(email: email, cost: cost) }
            try await body(Meter(service: service, tracer: tracer, recorder: recorder))
        }
    }

    /// What can be wrong with a password.
    private static func wrongPasswords() throws -> [String] {
        [try TestService.encrypt("your password"), "in the clear", ""]
    }

    /// Expects that attempts are answered alike and cost the same.
    private static func expectAlike(
        _ meter: Meter,
        _ emails: [String],
        statements: [String],
        _ attempt: (String) async throws -> HTTPAnswer
    ) async throws {
        var first: HTTPAnswer?
        for email in emails {
            let (answer, cost) = try await meter.cost { try await attempt(email) }
            #expect(cost.statements == statements, "\(email)")
            #expect(cost.rounds == rounds, "\(email): \(cost.hashes)")
            #expect(answer.status == 401)
            #expect(answer.body == (first ?? answer).body)
            #expect(Set(answer.headers.keys) == Set((first ?? answer).headers.keys))
            first = first ?? answer
        }
    }

    @Test("A sign-in that fails costs the same, whether or not there is an account, and however old its hash is")
    func signIns() async throws {
        try await Self.run { meter in
            let statements = [
                "find(email:from:)", "count(_:amount:limit:)", "count(_:amount:limit:)", "count(_:amount:limit:)",
                "add(_:userID:from:)",
            ]
            for password in try Self.wrongPasswords() {
                let emails = Self.accounts + Self.nobody
                try await Self.expectAlike(meter, emails, statements: statements) { email in
                    try await meter.service.sendForm(
                        "POST",
                        "/api/signin",
                        authorization: TestService.basic,
                        [("email", email), ("password", password)],
                        headers: Self.elsewhere
                    )
                }
            }
            // No account has an e-mail with NUL, which no statement could look for.
            try await Self.expectAlike(meter, ["nul\0@example.com"], statements: Array(statements.dropFirst())) {
                try await meter.service.signIn(email: $0, headers: Self.elsewhere)
            }
        }
    }

    @Test("So does a call of get_token")
    func getToken() async throws {
        try await Self.run { meter in
            let statements = [
                "count(_:amount:limit:)", "find(email:from:)", "count(_:amount:limit:)", "count(_:amount:limit:)",
                "count(_:amount:limit:)",
                "add(_:userID:from:)",
            ]
            for password in try Self.wrongPasswords() {
                let emails = Self.accounts + ["nobody@example.com"]
                try await Self.expectAlike(meter, emails, statements: statements) { email in
                    try await meter.service.send(
                        "GET",
                        "/api/get_token?email=\(email)&password=\(password.formEncoded)",
                        headers: Self.elsewhere + [("Authorization", TestService.basic)]
                    )
                }
            }
        }
    }

    @Test("A password that can't be hashed costs as much as one that can")
    func unhashable() async throws {
        try await Self.run { meter in
            let statements = [
                "find(email:from:)", "count(_:amount:limit:)", "count(_:amount:limit:)", "count(_:amount:limit:)",
                "add(_:userID:from:)",
            ]
            for password in ["", "my password\0", String(repeating: "x", count: 73)] {
                let emails = Self.accounts + ["nobody@example.com"]
                try await Self.expectAlike(meter, emails, statements: statements) { email in
                    try await meter.service.signIn(email: email, password: password, headers: Self.elsewhere)
                }
            }
        }
    }

    @Test("A wrong old password costs the same at a reset, and at a deletion, whatever is wrong with it")
    func withToken() async throws {
        try await Self.run { meter in
            let service = meter.service
            for (email, cost) in zip(Self.accounts, 4...7) {
                let token = try TestService.token(of: try await service.signIn(email: email))
                // Signing in has renewed the hash.
                let old = try BCrypt.hash(Array("my password".utf8), cost: cost)
                try await service.postgres.write("UPDATE users SET password_hash = \(old) WHERE email = \(email)")
                let new = try TestService.encrypt("new password")
                for (method, path) in [("POST", "/api/reset_password"), ("DELETE", "/api/account")] {
                    let statements = [
                        "find(token:)", "count(_:amount:limit:)", "count(_:amount:limit:)", "find(id:)",
                        "add(_:userID:from:)",
                    ]
                    try await Self.expectAlike(meter, try Self.wrongPasswords(), statements: statements) { wrong in
                        try await service.sendForm(
                            method,
                            path,
                            authorization: tokenHeader(token),
                            [("old_password", wrong), ("new_password", new), ("password", wrong)],
                            headers: Self.elsewhere
                        )
                    }
                }
            }
        }
    }

    @Test("A right password costs a hash, and a weak one its renewal; of a disabled account it costs no more")
    func right() async throws {
        try await Self.run { meter in
            let find = [
                "find(email:from:)", "count(_:amount:limit:)", "count(_:amount:limit:)", "count(_:amount:limit:)",
                "giveBack(_:)",
            ]
            for (email, cost) in zip(Self.accounts, 4...7) {
                let (answer, found) = try await meter.cost {
                    try await meter.service.signIn(email: email, headers: Self.elsewhere)
                }
                #expect(answer.status == 200)
                let isWeak = cost < Self.today
                let renewal = isWeak ? ["renewHash(of:to:)"] : []
                #expect(found.statements == find + renewal + ["begin(_:of:owner:device:from:on:)"])
                #expect(found.hashes == (isWeak ? [cost, 7] : [7]))
            }
            try await meter.service.administer(Self.accounts[3], isDisabled: true)
            let disabled = { (password: String) in
                try await meter.cost {
                    try await meter.service.signIn(
                        email: Self.accounts[3],
                        password: password,
                        headers: [("X-Forwarded-For", "203.0.113.2")]
                    )
                }
            }
            let (right, rightCost) = try await disabled("my password")
            #expect(right.status == 403)
            #expect(rightCost == Cost(statements: find + ["add(_:userID:from:)"], hashes: [7]))
            let (wrong, wrongCost) = try await disabled("your password")
            #expect(wrong.status == 401)
            #expect(wrongCost == Cost(statements: find.dropLast() + ["add(_:userID:from:)"], hashes: [7]))
        }
    }
}
