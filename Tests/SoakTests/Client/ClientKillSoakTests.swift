import ServiceTestSupport
import Testing

@Suite("The Swift client's outbox, killed", .timeLimit(.minutes(30)))
struct ClientKillSoakTests {
    @Test("An app is killed 500 times, at each step of its outbox, and the service with it: each photo is there once")
    func kills() async throws {
        try await ClientKills(count: 501, serverKills: 3).run()
    }
}
