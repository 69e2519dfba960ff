import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The pages about ports")
struct PortCodeTests {
    @Test("Their Swift code has no error", .timeLimit(.minutes(1)))
    func types() async throws {
        try await TemporaryFolder.with { folder in
            let outcome = try await PortCode.compile(PortCode.pages, in: folder)
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        }
    }
}
