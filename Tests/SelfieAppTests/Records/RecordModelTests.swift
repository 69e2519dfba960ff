import ServiceTestSupport
import Testing

@Suite("Records against a model", .timeLimit(.minutes(3)))
struct RecordModelTests {
    @Test("800 random calls by 8 clients at two processes are answered as the model says")
    func model() async throws {
        try await RecordModelRun(roundCount: 100).run()
    }
}
