import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import Testing

@Suite("Times of sign-ins", .serialized, .timeLimit(.minutes(10)))
struct SignInTimingTests {
    private static let maxDifference = 0.05
    private static let existing = "ada@example.com"

    /// Limits are on, so that what they cost is measured too, and too high to be met.
    private static let settings = [
        "RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "1000000/1d",
        "RATE_LIMIT_SIGNIN_PER_ADDRESS": "1000000/1d", "RATE_LIMIT_GET_TOKEN_PER_ADDRESS": "1000000/1d",
        "RATE_LIMIT_PASSWORD_TRIES_PER_ACCOUNT": "1000000/1d",
    ]
    private static let home = [("X-Forwarded-For", "198.51.100.7")]
    private static let elsewhere = [("X-Forwarded-For", "203.0.113.1")]

    @Test("Sign-ins with existing and unknown e-mails take the same time and have the same answer")
    func signIns() async throws {
        try await Self.run { service in
            try await Self.compare(pairCount: 400) { pair, isFirst in
                try await service.signIn(
                    email: isFirst ? Self.existing : "nobody\(pair)@example.com",
                    password: "wrong password",
                    headers: Self.elsewhere
                )
            }
        }
    }

    @Test("So do calls of get_token")
    func getToken() async throws {
        try await Self.run { service in
            let password = try TestService.encrypt("wrong password").formEncoded
            try await Self.compare(pairCount: 200) { pair, isFirst in
                let email = isFirst ? Self.existing : "nobody\(pair)@example.com"
                return try await service.send(
                    "GET",
                    "/api/get_token?email=\(email)&password=\(password)",
                    headers: Self.elsewhere + [("Authorization", TestService.basic)]
                )
            }
        }
    }

    @Test("So do resets of passwords, whatever is wrong with the old one")
    func resets() async throws {
        try await Self.run { service in
            let signIn = try await service.signIn(email: Self.existing, headers: Self.home)
            let token = try #require(signIn.json["api_authtoken"] as? String)
            let wrong = try TestService.encrypt("wrong password")
            let new = try TestService.encrypt("new password")
            try await Self.compare(pairCount: 200) { pair, isFirst in
                try await service.sendForm(
                    "POST",
                    "/api/reset_password",
                    authorization: "Token token=\(token)",
                    [("old_password", isFirst ? wrong : "undecryptable \(pair)"), ("new_password", new)],
                    headers: Self.elsewhere
                )
            }
        }
    }

    /// Runs a body with a service that has one account.
    private static func run(_ body: (TestService) async throws -> Void) async throws {
        try await ServedSelfie.run(settings: settings) { served in
            #expect(try await served.service.signUp(email: existing, headers: home).status == 200)
            try await body(served.service)
        }
    }

    /// Makes calls of two kinds in pairs, and expects medians that hardly differ and answers that do not.
    private static func compare(
        pairCount: Int,
        _ call: (_ pair: Int, _ isFirst: Bool) async throws -> HTTPAnswer
    ) async throws {
        var times: [Bool: [Duration]] = [:]
        for pair in 0..<pairCount {
            var answers: [HTTPAnswer] = []
            // Each goes first as often as the other, so that what slows the machine down hits both.
            for isFirst in pair % 2 == 0 ? [true, false] : [false, true] {
                let start = ContinuousClock.now
                answers.append(try await call(pair, isFirst))
                times[isFirst, default: []].append(ContinuousClock.now - start)
            }
            #expect(answers[0].status == 401 && answers[0].body == answers[1].body)
            #expect(Set(answers[0].headers.keys) == Set(answers[1].headers.keys))
        }
        let medians = times.mapValues { $0.sorted()[pairCount / 2] }
        let (first, second) = (try #require(medians[true]), try #require(medians[false]))
        #expect(abs(first / second - 1) < maxDifference, "\(first) and \(second)")
    }
}
