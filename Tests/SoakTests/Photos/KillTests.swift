import Glibc
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("kill -9 again and again in the middle of uploads and deletions", .serialized, .timeLimit(.minutes(20)))
struct KillTests {
    private static let roundCount = 12
    /// As many as a session may have under way.
    private static let requestCount = 40

    @Test(
        "Rows and objects match one to one within a minute, and no answered request is forgotten",
        arguments: TestStore.allCases
    )
    func kills(store: TestStore) async throws {
        try await CrashStorm.with(store) { storm in
            var token = ""
            for round in 0..<Self.roundCount {
                let served = try await storm.start()
                if round == 0 { token = try await served.service.makeToken() }
                let status = try await storm.run(
                    served,
                    token: token,
                    requestCount: Self.requestCount,
                    // From at once to nearly all, another moment each round.
                    answersBeforeKill: round == 0 ? Self.requestCount / 2 : (round * 17) % (Self.requestCount - 5),
                    round: round
                )
                #expect(status == 128 + SIGKILL)
            }
            #expect(storm.ledger.uploadCount > 0 && !storm.ledger.deleted.isEmpty && storm.ledger.silenceCount > 0)
            let served = try await storm.start()
            // In real time: a pending photo is given up after 40 s, and a sweep comes every 5 s.
            try await poll("rows and objects match", within: .seconds(60)) { try await storm.isWhole() }
            let mistakes = try await storm.mistakes(served.service, token: token)
            #expect(mistakes == [])
        }
    }
}
