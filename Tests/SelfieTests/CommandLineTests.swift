import TestSupport
import Testing

@Suite("The command line")
struct CommandLineTests {
    @Test("A command that does not exist ends with a usage line and a non-zero status")
    func unknownCommand() async throws {
        let outcome = try await SelfieProcess.run(["no-such-command"])
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains("Usage: selfie"))
    }
}
