import ServiceTestSupport
import Testing

@Suite("A storm of changes", .timeLimit(.minutes(3)))
struct ChangeStormTests {
    @Test(
        "Processes and the database are killed under 16 writers and 32 readers: nothing is missed, nothing comes twice"
    )
    func storm() async throws {
        try await ChangeStorm.run(seconds: 5)
    }
}
