import ClientTestSupport
import ProcessTestSupport
import TestSupport
import Testing

@Suite("The Swift code of the README and the pages about ports")
struct PortCodeTests {
    @Test("It has no error", .timeLimit(.minutes(1)))
    func types() async throws {
        try await TemporaryFolder.with { folder in
            let outcome = try await PortCode.compile(
                [PortCode.shared] + PortCode.pages,
                with: PortCode.readme,
                in: folder,
                isTypesOnly: true
            )
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        }
    }
}
