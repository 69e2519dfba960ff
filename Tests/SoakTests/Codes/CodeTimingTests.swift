import ConnectionTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServiceTestSupport
import Testing

@Suite("Times of codes", .serialized, .timeLimit(.minutes(10)))
struct CodeTimingTests {
    private static let maxDifference = 0.05
    private static let pairCount = 400

    /// Limits are on, so that what they cost is measured too, and too high to be met.
    private static let settings = [
        "RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_CODES_PER_ACCOUNT": "1000000/1d",
        "RATE_LIMIT_CODES_PER_ADDRESS": "1000000/1d", "RATE_LIMIT_CODE_TRIES_PER_ACCOUNT": "1000000/1d",
        "RATE_LIMIT_SIGNIN_PER_ADDRESS": "1000000/1d", "MAIL_FROM": "no-reply@example.com",
    ]
    private static let elsewhere = [("X-Forwarded-For", "203.0.113.1")]

    @Test("A code for a known and an unknown address takes the same time", arguments: ["signin", "reset"])
    func requests(purpose: String) async throws {
        try await Self.run { service in
            try await Self.compare(status: 200) { _, isKnown in
                try await service.sendForm(
                    "POST",
                    "/api/request_code",
                    authorization: TestService.basic,
                    [("email", isKnown ? "ada@example.com" : "eve@example.com"), ("purpose", purpose)],
                    headers: Self.elsewhere
                )
            }
        }
    }

    @Test("So does a wrong code, whether or not one was sent", arguments: ["/api/signin", "/api/recover_password"])
    func wrongCodes(path: String) async throws {
        try await Self.run { service in
            for email in ["ada@example.com", "eve@example.com"] {
                for purpose in ["signin", "reset"] {
                    let answer = try await service.sendForm(
                        "POST",
                        "/api/request_code",
                        authorization: TestService.basic,
                        [("email", email), ("purpose", purpose)]
                    )
                    #expect(answer.status == 200)
                }
            }
            let password = try TestService.encrypt("another password")
            try await Self.compare(status: 401) { _, isKnown in
                try await service.sendForm(
                    "POST",
                    path,
                    authorization: TestService.basic,
                    [
                        ("email", isKnown ? "ada@example.com" : "eve@example.com"), ("code", "12345x"),
                        ("new_password", password),
                    ],
                    headers: Self.elsewhere
                )
            }
        }
    }

    /// Runs a body with a service that sends to a real mail server, and has one account.
    private static func run(_ body: (TestService) async throws -> Void) async throws {
        try await MailServerPeer.with(.plain) { peer in
            let mail = ["SMTP_URL": "smtp://localhost:\(peer.port)"]
            try await ServedSelfie.run(settings: settings.merging(mail) { $1 }) { served in
                #expect(try await served.service.signUp(email: "ada@example.com").status == 200)
                try await body(served.service)
            }
        }
    }

    /// Makes calls of two kinds in pairs, and expects medians that hardly differ and answers that do not.
    private static func compare(
        status: Int,
        _ call: (_ pair: Int, _ isKnown: Bool) async throws -> HTTPAnswer
    ) async throws {
        var times: [Bool: [Duration]] = [:]
        for pair in 0..<pairCount {
            var answers: [HTTPAnswer] = []
            // Each goes first as often as the other, so that what slows the machine down hits both.
            for isKnown in pair % 2 == 0 ? [true, false] : [false, true] {
                let start = ContinuousClock.now
                answers.append(try await call(pair, isKnown))
                times[isKnown, default: []].append(ContinuousClock.now - start)
            }
            #expect(answers[0].status == status && answers[0].body == answers[1].body)
            #expect(Set(answers[0].headers.keys) == Set(answers[1].headers.keys))
        }
        let medians = times.mapValues { $0.sorted()[pairCount / 2] }
        let (known, unknown) = (try #require(medians[true]), try #require(medians[false]))
        print("medians: known \(known), unknown \(unknown)")
        #expect(abs(known / unknown - 1) < maxDifference, "\(known) and \(unknown)")
    }
}
