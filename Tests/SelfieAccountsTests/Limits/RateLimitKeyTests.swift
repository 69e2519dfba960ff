import DatabaseTestSupport
import Postgres
import Testing

@testable import SelfieAccounts

@Suite("What counts as the same, and against which limit")
struct RateLimitKeyTests {
    private static let source = RequestSource(address: .none, requestID: "request")

    private static func limiter(_ postgres: PostgresClient, secret: String = "secret") -> RateLimiter {
        var limits = RateLimits()
        limits[.signInPerAccount] = RateLimit(1, per: 3_600)
        return RateLimiter(
            store: RateLimitStore(postgres: postgres),
            audit: AuditStore(postgres: postgres),
            limits: limits,
            secret: secret,
            clock: ContinuousClock()
        )
    }

    private static func keys(_ postgres: PostgresClient) async throws -> [String] {
        try await postgres.read("SELECT key FROM rate_limits").map { try $0.decode("key") }
    }

    private static let actions: [LimitedAction] =
        [
            .password(.user(id: 1)), .password(.user(id: 2)), .password(.unknown(email: "1")),
            .password(.unknown(email: "2")), .passwordFromKnownNetwork(userID: 1, network: "1"),
            .passwordFromKnownNetwork(userID: 2, network: "1"), .passwordFromKnownNetwork(userID: 1, network: "2"),
            .passwordFromKnownNetwork(userID: 11, network: "2"), .passwordFromKnownNetwork(userID: 1, network: "12"),
            .passwordOfSession(id: 1), .passwordOfSession(id: 2), .upload(userID: 1), .upload(userID: 2),
            .passwordTry(.user(id: 1)), .passwordTry(.user(id: 2)), .passwordTry(.unknown(email: "1")),
            .passwordTry(.unknown(email: "user 1")),
        ]
        + ["192.0.2.1", "192.0.2.2", "2001:db8::1"].compactMap { ClientAddress($0) }.flatMap { address in
            LimitedAction.signIn(from: address) + LimitedAction.signUp(from: address)
                + LimitedAction.getToken(from: address)
                + LimitedAction.tokenGuess(from: address)
        }

    @Test("No two actions share a count, nor do two installations, and a key reveals nothing")
    func keys() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TestCluster.withClient(databaseURL) { postgres in
                for secret in ["secret", "another"] {
                    let limiter = Self.limiter(postgres, secret: secret)
                    for action in Self.actions { try await limiter.count([action], ofUser: nil, from: Self.source) }
                }
                let keys = try await Self.keys(postgres)
                #expect(keys.count == 2 * (17 + 4 * 4))
                #expect(keys.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{64}/) != nil })
                #expect(try await postgres.read("SELECT key FROM rate_limits WHERE count <> 1").isEmpty)
            }
        }
    }

    @Test("Each action has its limit, which stays what it is")
    func limits() async throws {
        let limits = RateLimits()
        #expect(limits[.signInPerAccount] == RateLimit(20, per: 900))
        #expect(limits[.signInPerAddress] == RateLimit(100, per: 900))
        #expect(limits[.signUpPerAddress] == RateLimit(30, per: 3_600))
        #expect(limits[.getTokenPerAddress] == RateLimit(100, per: 900))
        #expect(limits[.tokenGuessesPerAddress] == RateLimit(100, per: 900))
        #expect(limits[.passwordTriesPerAccount] == RateLimit(240, per: 900))
        #expect(limits[.uploadsPerUser] == RateLimit(500, per: 3_600))
        #expect(limits[.exportsPerUser] == RateLimit(1, per: 3_600))

        try await TestCluster.withDatabase { databaseURL in
            try await TestCluster.withClient(databaseURL) { postgres in
                let limiter = Self.limiter(postgres)
                let address = try #require(ClientAddress("2001:db8::1"))
                let expected: [(LimitedAction, RateLimit, secondsLeft: ClosedRange<Int>, String)] = [
                    (.password(.user(id: 1)), RateLimit(1, per: 3_600), 3_480...3_600, "sign_in_limited"),
                    (.password(.unknown(email: "a")), RateLimit(1, per: 3_600), 3_480...3_600, "sign_in_limited"),
                    (
                        .passwordFromKnownNetwork(userID: 1, network: "a"), RateLimit(1, per: 3_600), 3_480...3_600,
                        "sign_in_limited"
                    ),
                    (.passwordOfSession(id: 1), RateLimit(1, per: 3_600), 3_480...3_600, "password_limited"),
                    (LimitedAction.signIn(from: address)[0], RateLimit(100, per: 900), 780...900, "sign_in_limited"),
                    (
                        LimitedAction.signUp(from: address)[0], RateLimit(30, per: 3_600), 3_480...3_600,
                        "sign_up_limited"
                    ),
                    (
                        LimitedAction.getToken(from: address)[0], RateLimit(100, per: 900), 780...900,
                        "get_token_limited"
                    ),
                    (
                        LimitedAction.tokenGuess(from: address)[0], RateLimit(100, per: 900), 780...900,
                        "token_guesses_limited"
                    ),
                    (LimitedAction.signIn(from: address)[1], RateLimit(800, per: 900), 780...900, "sign_in_limited"),
                    (
                        LimitedAction.signUp(from: address)[1], RateLimit(240, per: 3_600), 3_480...3_600,
                        "sign_up_limited"
                    ),
                    (.passwordTry(.user(id: 1)), RateLimit(240, per: 900), 780...900, "sign_in_limited"),
                    (.upload(userID: 1), RateLimit(500, per: 3_600), 3_480...3_600, "uploads_limited"),
                    (.export(userID: 1), RateLimit(1, per: 3_600), 3_480...3_600, "exports_limited"),
                ]
                for (number, (action, limit, secondsLeft, event)) in expected.enumerated() {
                    try await limiter.count([action], ofUser: nil, from: Self.source)
                    // All that the limit allows was done.
                    try await postgres.write("UPDATE rate_limits SET count = \(limit.count)")
                    let refusal = await #expect(throws: RateLimitExceeded.self) {
                        try await limiter.count([action], ofUser: nil, from: Self.source)
                    }
                    #expect(refusal?.limit == limit, "\(action)")
                    let seconds = try #require(refusal?.secondsLeft)
                    #expect(secondsLeft.contains(seconds), "\(action)")
                    let events = try await postgres.read("SELECT event, count FROM audit_events")
                    #expect(try events.map { try $0.decode("count", as: Int.self) }.reduce(0, +) == number + 1)
                    #expect(try events.contains { try $0.decode("event") == event })
                    try await postgres.write("DELETE FROM rate_limits")
                }
            }
        }
    }
}
