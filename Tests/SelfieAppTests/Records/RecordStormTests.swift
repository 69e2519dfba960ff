import ServiceTestSupport
import Testing

@Suite("Storms of records", .timeLimit(.minutes(3)))
struct RecordStormTests {
    @Test("16 writers over 20 shared streams, at two processes: no deadlock, no failure, no gap and no double")
    func storm() async throws {
        try await RecordStorm(seconds: 2).run()
    }
}
