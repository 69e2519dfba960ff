import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("The pages in Chromium, without a network", .serialized, .timeLimit(.minutes(3)))
struct BrowserTests {
    private static let account = ["email": "grace@example.com", "password": "a good password"]

    /// Runs a script of `Tests/Python/browser`, and expects that no log holds what it used.
    private static func run(_ script: String, in service: TestService, _ values: [String: String]) async throws {
        let given = values.merging(["origin": service.origin]) { $1 }
        let input = String(decoding: try JSONEncoder().encode(given), as: UTF8.self)
        let output = try await PythonScript.run("browser/\(script)", input: input)
        let used = try JSONDecoder().decode([String].self, from: Data(output.utf8))
        #expect(!used.isEmpty)
        service.secrets.note(used + values.values)
    }

    @Test("By keyboard: sign up, upload, look, delete, bring back, take a selfie, end a session, sign out, leave")
    func gallery() async throws {
        try await TestService.run(settings: ["LOG_LEVEL": "trace"]) { service in
            // Until the account is deleted.
            async let keyed: Void = poll("an upload has a key", within: .seconds(110)) {
                try await service.count("SELECT count(*) FROM photos WHERE upload_key IS NOT NULL") > 0
            }
            try await Self.run(
                "gallery.py",
                in: service,
                Self.account.merging(["new_password": "another good password"]) { $1 }
            )
            try await keyed
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
            #expect(service.log.text.contains("/gallery/photos"))
        }
    }

    @Test("By keyboard: recover a forgotten password, sign in with a code, change the address")
    func codes() async throws {
        try await TestService.run(settings: ["LOG_LEVEL": "trace"]) { service in
            try await Self.run(
                "codes.py",
                in: service,
                Self.account.merging([
                    "new_password": "another good password", "new_email": "admiral@example.com",
                    "outbox": service.mails.folder.path,
                ]) { $1 }
            )
            let emails = try await service.postgres.read("SELECT email FROM users WHERE email_verified_at IS NOT NULL")
            #expect(try emails.map { try $0.decode("email", as: String.self) } == ["admiral@example.com"])
        }
    }

    @Test("Photos that are still seen are loaded when those that were under way are scrolled out of sight")
    func imageLine() async throws {
        try await TestService.run { service in
            _ = try await PythonScript.run("browser/image_line.py", input: #"{"origin": "\#(service.origin)"}"#)
        }
    }

    /// Each collection makes the page longer, and each look at a long page takes a browser seconds.
    private static let schema = """
        {"roles": {"team": {}}, "collections": {
            "bugs": {"access": "shared", "role": "team", "fields": {
                "title": {"type": "string", "required": true, "max": 200}}},
            "houses": {"access": "private", "indexes": ["address"], "fields": {
                "address": {"type": "string", "required": true}, "comment": {"type": "string", "max": 1000},
                "photo": {"type": "photo"}}}
        }}
        """

    @Test("By keyboard: learn the API, try its calls, and run what the page shows")
    func docs() async throws {
        // With limits, as installations have them, which are in the descriptions.
        let settings = ["LOG_LEVEL": "trace", "RATE_LIMITS": "on"]
        try await TestService.runWithSchema(Self.schema, settings: settings) { service in
            let credential = ["name": TestService.apiName, "api_password": TestService.apiPassword]
            try await Self.run("docs_page.py", in: service, Self.account.merging(credential) { $1 })
            #expect(try await service.count("SELECT count(*) FROM photos") == 2)
        }
    }

    @Test("A page of another origin can neither read nor change anything")
    func foreignPage() async throws {
        try await TestService.run { service in
            try await Self.run("foreign_page.py", in: service, Self.account)
            // Every change arrived, and was refused: from two places, four forms, and six calls in two ways of which one is
            // asked for beforehand where it is a deletion.
            let refused = service.log.text.split(separator: "\n").filter {
                $0.contains("status=403") && ($0.contains("method=POST") || $0.contains("method=DELETE"))
            }
            #expect(refused.count >= 2 * (4 + 4 * 2))
        }
    }
}
