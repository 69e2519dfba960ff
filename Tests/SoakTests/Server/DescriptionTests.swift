import ServiceTestSupport
import Testing

@Suite("The API by its own description")
struct DescriptionTests {
    @Test(
        "200 examples of each call, with and without a credential, are answered as it says",
        arguments: Schemathesis.Caller.allCases
    )
    func tried(caller: Schemathesis.Caller) async throws {
        try await TestService.runWithSchema(settings: [:]) { service in
            let findings = try await Schemathesis(exampleCount: 200).findings(in: service, as: caller)
            #expect(findings == nil, "\(findings ?? "")")
        }
    }
}
