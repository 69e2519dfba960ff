import Glibc
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("kill -9 in the middle of uploads and deletions", .timeLimit(.minutes(5)))
struct CrashTests {
    /// So many are asked for at once, and the process is killed after so many answers.
    private static let rounds = [(requests: 12, answers: 12), (requests: 16, answers: 5)]

    @Test(
        "Rows and objects match one to one after cleaning, and no answered request is lost",
        arguments: TestStore.allCases
    )
    func crashes(store: TestStore) async throws {
        try await CrashStorm.with(store) { storm in
            var token = ""
            for (round, (requests, answers)) in Self.rounds.enumerated() {
                let served = try await storm.start()
                if round == 0 { token = try await served.service.makeToken() }
                let status = try await storm.run(
                    served,
                    token: token,
                    requestCount: requests,
                    answersBeforeKill: answers,
                    round: round,
                    // Or a process that is faster than the client had answered them all.
                    holdsOne: answers < requests
                )
                #expect(status == 128 + SIGKILL)
            }
            #expect(storm.ledger.uploadCount > 0 && storm.ledger.silenceCount > 0)
            // A process sweeps a second after its start.
            try await storm.age()
            let served = try await storm.start()
            try await poll("rows and objects match") {
                try await storm.age()
                return try await storm.isWhole()
            }
            let mistakes = try await storm.mistakes(served.service, token: token)
            #expect(mistakes == [])
        }
    }
}
