import ClientTestSupport
import Testing

@Suite("The Swift client's live queries in a storm", .timeLimit(.minutes(30)))
struct ReplicaStormSoakTests {
    @Test(
        "1,000 cuts, restarts, lost roles and restored databases beside 8 writers: each round ends with what SQL says"
    )
    func storm() async throws {
        try await ReplicaStorm(cuts: 1_000, rounds: 20).run()
    }
}
