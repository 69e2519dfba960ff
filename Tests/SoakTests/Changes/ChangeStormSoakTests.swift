import ServiceTestSupport
import Testing

@Suite("Long storms of changes", .timeLimit(.minutes(9)))
struct ChangeStormSoakTests {
    @Test("For five minutes, processes and the database are killed under 16 writers and 32 readers: nothing is missed")
    func storm() async throws {
        try await ChangeStorm.run(seconds: 300)
    }
}
