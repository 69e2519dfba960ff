import Glibc
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("Lists against a model", .serialized, .timeLimit(.minutes(30)))
struct ListModelSoakTests {
    @Test("20,000 lists of 20 random schemas, by 8 clients beside two writers, at two processes")
    func model() async throws {
        try await ServedSelfie.runSeveral(settings: ["RATE_LIMITS": "off"]) { start, _ in
            let served = [try await start(), try await start()]
            defer { for one in served { one.process.signal(SIGTERM) } }
            for seed in 1...20 {
                let said = try await ListModelRun(recordCount: 400, queryCount: 1_000)
                    .run(seed: seed, at: served.map(\.service))
                print("schema \(seed): \(said)")
            }
        }
    }
}
