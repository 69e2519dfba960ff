import ServiceTestSupport
import Testing

@Suite("The Swift client's outbox and the end of the app")
struct KilledAppTests {
    @Test(
        "An app that is killed at some steps, and the service with it: each photo is there once",
        .timeLimit(.minutes(2))
    )
    func kills() async throws {
        try await ClientKills(count: 12, serverKills: 6, stride: 5).run()
    }
}
