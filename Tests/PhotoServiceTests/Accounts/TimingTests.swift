import Foundation
import TestSupport
import Testing

@Suite("No oracle", .timeLimit(.minutes(8)))
struct TimingTests {
    private static let pairCount = 400
    private static let differenceMax = 0.05

    @Test("Sign-ins with existing and unknown e-mails take the same time and have the same answer")
    func signIns() async throws {
        try await ServedSelfie.run { served in
            let service = served.service
            #expect(try await service.signUp(email: "ada@example.com").status == 200)
            var (existing, unknown): ([Duration], [Duration]) = ([], [])
            for pair in 0..<Self.pairCount {
                let emails = ["ada@example.com", "nobody\(pair)@example.com"]
                var answers: [String: HTTPAnswer] = [:]
                // Each goes first as often as the other, so that what slows the machine down hits both.
                for email in pair % 2 == 0 ? emails : emails.reversed() {
                    let start = ContinuousClock.now
                    let answer = try await service.signIn(email: email, password: "wrong password")
                    let time = ContinuousClock.now - start
                    if email == emails[0] { existing.append(time) } else { unknown.append(time) }
                    answers[email] = answer
                }
                let (one, other) = (try #require(answers[emails[0]]), try #require(answers[emails[1]]))
                #expect(one.status == 401 && one.body == other.body)
                #expect(Set(one.headers.keys) == Set(other.headers.keys))
            }
            let (first, second) = (existing.sorted()[Self.pairCount / 2], unknown.sorted()[Self.pairCount / 2])
            let difference = abs(first / second - 1)
            #expect(difference < Self.differenceMax, "\(first) for existing, \(second) for unknown ones")
        }
    }
}
