import Foundation
import Testing

@testable import SelfieConfiguration
@testable import SelfieOperations

@Suite("Settings that should be changed")
struct SettingsCheckTests {
    @Test(
        "Each is warned about by its key",
        arguments: [
            ("API_AUTH_PASSWORD", "aaaaaaaaaaaaaaaa"), ("API_AUTH_PASSWORD", "Ur9vTq2LmX7"),
            ("API_AUTH_PASSWORD", "my-Password-2026"), ("SECRET_KEY_BASE", "change-me-change-me-change-me-change-me"),
            ("SECRET_KEY_BASE", "k3jf8sk3jf8sk3jf8sk3jf8sk3jf8sk3jf8s"), ("GET_TOKEN_WITHOUT_PASSWORD", "true"),
            ("GET_TOKEN_WITHOUT_PASSWORD", "YES"), ("GET_TOKEN_WITHOUT_PASSWORD", "on"),
            ("RATE_LIMITS", "off"), ("RATE_LIMITS", "OFF"),
            ("PUBLIC_URL", "http://photos.example.com"),
            ("DATABASE_URL", "postgresql://me@db.example/x"),
            ("DATABASE_URL", "postgresql://me@db.example/x?sslmode=disable"),
            ("DATABASE_URL", "postgresql://me@localhost,db.example/x"),
            ("DATABASE_URL_READ", "postgresql://me@db.example/x"),
            ("DATABASE_URL_LISTEN", "postgresql://me@db.example/x"),
        ]
    )
    func warnings(key: String, value: String) {
        let warnings = Self.warnings([key: value])
        #expect(warnings.count == 1)
        #expect(warnings.first?.cause.hasPrefix("\(key) ") == true)
        #expect(
            key != "API_AUTH_PASSWORD" && key != "SECRET_KEY_BASE" || warnings.first?.cause.contains(value) == false
        )
        #expect(warnings.first?.remedy.isEmpty == false)
    }

    @Test(
        "There is no warning about safe settings",
        arguments: [
            ("API_AUTH_PASSWORD", "Ur9vTq2LmX7b"), ("GET_TOKEN_WITHOUT_PASSWORD", "false"),
            ("SECRET_KEY_BASE", "9b1f0c7de24a5836f1c09d7be3428a65d0f7c1b2e3948576a0b1c2d3e4f50617"),
            ("PUBLIC_URL", "http://localhost:3000"), ("RATE_LIMITS", "on"), ("TRUSTED_PROXIES", "1"),
            ("PUBLIC_URL", "http://127.0.0.1:3000"), ("PUBLIC_URL", "http://[::1]:3000"),
            ("DATABASE_URL", "postgresql://me@localhost/x"), ("DATABASE_URL", "postgresql:///x?host=/run/postgresql"),
            ("DATABASE_URL", "postgresql://me@db.example/x?sslmode=require"),
            ("DATABASE_URL", "postgresql://me@db.example/x?sslmode=verify-full"), ("DATABASE_URL", "nonsense"),
            ("DATABASE_URL_READ", "postgresql://me@db.example/x?sslmode=require"),
            ("DATABASE_URL_LISTEN", "postgresql://me@localhost/x"),
        ]
    )
    func silence(key: String, value: String) {
        #expect(Self.warnings([key: value]).isEmpty)
    }

    @Test("A proxy that TRUSTED_PROXIES does not count is warned about", arguments: [nil, "0", "1"])
    func proxies(count: String?) {
        let warnings = Self.warnings(["PUBLIC_URL": "https://photos.example.com", "TRUSTED_PROXIES": count ?? ""])
        #expect(warnings.contains { $0.cause.contains("TRUSTED_PROXIES") } == (count == nil))
        let onHeroku = Self.warnings(["PUBLIC_URL": "https://photos.example.com", "DYNO": "web.1"])
        #expect(onHeroku.isEmpty)
    }

    @Test("One secret for two things is warned about")
    func sharedSecret() {
        let secret = "9b1f0c7de24a5836f1c09d7be3428a65d0f7c1b2"
        let warnings = Self.warnings(["API_AUTH_PASSWORD": secret, "SECRET_KEY_BASE": secret])
        #expect(warnings.map(\.cause) == ["SECRET_KEY_BASE and API_AUTH_PASSWORD are the same"])
    }

    @Test(
        "Another clock is behind, ahead or right, as far as the time between request and answer shows",
        arguments: [
            (0.0, .ok, "the clock and ours agree"), (3, .ok, "the clock and ours agree within 3 seconds"),
            (-61, .warning, "the clock is 61 seconds behind ours"),
            (600, .warning, "the clock is 10 minutes ahead of ours"),
            (901, .failed, "the clock is 15 minutes ahead of ours"),
            (-7_300, .failed, "the clock is 2 hours behind ours"),
        ] as [(TimeInterval, Finding.Grade, String)]
    )
    func clocks(offset: TimeInterval, grade: Finding.Grade, text: String) {
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        let (before, after) = (date, date + 0.25)
        let remote = (offset < 0 ? before : after) + offset
        let findings = Findings(subject: .bucket, secrets: Secrets(source: ConfigurationSource(values: [:]))) {
            finding in
            #expect(finding.grade == grade)
            #expect(finding.text == text)
        }
        findings.clock("the clock", at: remote, sent: before, received: after, maxSeconds: 60)
    }

    private static func warnings(_ values: [String: String]) -> [Diagnosis] {
        SettingsCheck(source: ConfigurationSource(values: values)).warnings
    }
}
