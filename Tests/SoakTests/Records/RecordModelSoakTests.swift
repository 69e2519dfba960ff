import ServiceTestSupport
import Testing

@Suite("Long runs of records against a model", .timeLimit(.minutes(10)))
struct RecordModelSoakTests {
    @Test("10,000 random calls by 8 clients at two processes are answered as the model says")
    func model() async throws {
        try await RecordModelRun(roundCount: 1_250).run()
    }
}
