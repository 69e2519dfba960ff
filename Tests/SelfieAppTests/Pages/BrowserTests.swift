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

    @Test("By keyboard: sign up, upload, look, delete, bring back, take a selfie, end a session, sign out, leave")
    func gallery() async throws {
        try await TestService.run(settings: ["LOG_LEVEL": "trace"]) { service in
            // Until the account is deleted.
            async let keyed: Void = poll("an upload has a key", within: .seconds(110)) {
                try await service.count("SELECT count(*) FROM photos WHERE upload_key IS NOT NULL") > 0
            }
            try await BrowserScript.run(
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
            try await BrowserScript.run(
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

    @Test("A page of another origin can neither read nor change anything")
    func foreignPage() async throws {
        try await TestService.run { service in
            try await BrowserScript.run("foreign_page.py", in: service, Self.account)
            // Every change arrived, and was refused: from two places, four forms, and six calls in two ways of which one is
            // asked for beforehand where it is a deletion.
            let refused = service.log.text.split(separator: "\n").filter {
                $0.contains("status=403") && ($0.contains("method=POST") || $0.contains("method=DELETE"))
            }
            #expect(refused.count >= 2 * (4 + 4 * 2))
        }
    }
}
