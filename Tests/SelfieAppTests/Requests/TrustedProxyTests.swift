import ServiceTestSupport
import TestSupport
import Testing

@Suite("Proxies that the settings do not name")
struct TrustedProxyTests {
    @Test("An unconfigured proxy is warned about once", arguments: [nil, "0", "1"])
    func warning(trustedProxies: String?) async throws {
        let settings = trustedProxies.map { ["TRUSTED_PROXIES": $0] } ?? [:]
        try await TestService.run(settings: settings) { service in
            let warnings = { service.log.entries.filter { $0.hasPrefix("warning ") && $0.contains("TRUSTED_PROXIES") } }
            _ = try await service.signIn(email: "ada@example.com")
            #expect(warnings().isEmpty)
            for _ in 0..<3 {
                _ = try await service.signIn(email: "ada@example.com", headers: [("X-Forwarded-For", "192.0.2.1")])
            }
            #expect(warnings().count == (trustedProxies == nil ? 1 : 0))
            #expect(warnings().allSatisfy { !$0.contains("192.0.2.1") })
        }
    }
}
