import ClientTestSupport
import Testing

@Suite("The Swift client's live queries, cut again and again", .timeLimit(.minutes(3)))
struct ReplicaStormTests {
    @Test("After each round beside writers, with restarts, lost roles and a restored database, they are what SQL says")
    func storm() async throws {
        try await ReplicaStorm(cuts: 60, rounds: 4).run()
    }
}
