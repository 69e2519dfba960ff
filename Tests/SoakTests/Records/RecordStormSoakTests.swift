import ServiceTestSupport
import Testing

@Suite("Long storms of records", .timeLimit(.minutes(5)))
struct RecordStormSoakTests {
    @Test("16 writers over 20 shared streams for a minute")
    func storm() async throws {
        try await RecordStorm(seconds: 60).run()
    }
}
