import ConnectionTestSupport
import Curl
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Mails of the service", .timeLimit(.minutes(2)))
struct MailDeliveryTests {
    /// Runs a body with a service that sends to a real mail server.
    private static func run(
        _ protection: MailServerPeer.Protection = .plain,
        settings: [String: String] = [:],
        _ body: @escaping @Sendable (TestService, MailServerPeer) async throws -> Void
    ) async throws {
        try await MailServerPeer.with(protection) { peer in
            let url =
                switch protection {
                case .none, .plain: "smtp://localhost:\(peer.port)"
                case .starttls, .implicit: "smtps://ada:open%20sesame@localhost:\(peer.port)"
                }
            let mail = ["SMTP_URL": url, "MAIL_FROM": "Selfie <no-reply@example.com>"]
            try await TestService.run(
                settings: mail.merging(settings) { $1 },
                adjust: { service in
                    service.mailConnections = CurlConfiguration(environment: [:])
                    service.mailConnections.trust = .file(path: peer.authorityPath)
                }
            ) { try await body($0, peer) }
        }
    }

    /// The mails of a server, as Python's strict parser reads them.
    private static func parsed(_ mails: [MailServerPeer.Received]) async throws -> [[String: Any]] {
        let lines = mails.map { $0.bytes.base64EncodedString() }.joined(separator: "\n")
        return try await PythonScript.run("parse_mails.py", input: lines).split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test("A code arrives over TLS, and works", arguments: [MailServerPeer.Protection.implicit, .plain])
    func arrives(protection: MailServerPeer.Protection) async throws {
        try await Self.run(protection, settings: ["APP_NAME": "Ada's {code} Фото\u{202E} & <b>"]) { service, peer in
            _ = try await service.signUp(email: "Ada@example.com", fullName: "Visit evil.example now")
            try await service.requestCode("ada@example.com")
            let mail = try await found("mail") { try peer.mails().first }
            #expect(mail.recipients == ["Ada@example.com"] && mail.sender == "no-reply@example.com")
            let text = try await Self.parsed([mail])[0]
            #expect(
                text["headers"] as? [String] == [
                    "Date", "Message-ID", "From", "To", "Subject", "Auto-Submitted", "MIME-Version", "Content-Type",
                    "Content-Transfer-Encoding",
                ]
            )
            #expect(text["subject"] as? String == "Your code for Ada's {code} Фото\u{202E} & <b>")
            let words = try #require(text["text"] as? String)
            let code = try #require(words.firstMatch(of: /(?m)^ {4}(\d{6})$/)?.1)
            #expect(!words.contains("evil") && !words.contains("http"))
            #expect(try await service.signIn("ada@example.com", code: String(code)).status == 200)
            try await poll("deletion") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
        }
    }

    @Test("What is refused for now is tried again, with the same Message-ID")
    func greylisting() async throws {
        try await Self.run { service, peer in
            _ = try await service.signUp(email: "ada@example.com")
            try peer.reply(["RCPT": "451 4.7.1 Try again later, ada@example.com"])
            try await service.requestCode("ada@example.com")
            try await poll("refusal") {
                try await service.count("SELECT count(*) FROM deliveries WHERE reason = 'RCPT 451 4.7.1'") == 1
            }
            let waits =
                "SELECT count(*) FROM deliveries WHERE due_at - created_at BETWEEN interval '4 s' AND interval '9 s'"
            #expect(try await service.count("\(part: .init(stringLiteral: waits))") == 1)
            let id = try await service.postgres.read("SELECT id::text AS id FROM deliveries")[0].decode(
                "id",
                as: String.self
            )
            #expect(try await service.count("SELECT count(*) FROM users WHERE email_refused_at IS NOT NULL") == 0)
            try peer.reply([:])
            try await service.postgres.write("UPDATE deliveries SET due_at = now() AT TIME ZONE 'UTC'")
            let mail = try await found("mail") { try peer.mails().first }
            #expect(try await Self.parsed([mail])[0]["id"] as? String == "<\(id)@example.com>")
        }
    }

    @Test("A notice counts at the try that sends it")
    func noticeAfterGreylisting() async throws {
        try await Self.run(settings: ["RATE_LIMIT_NOTICES_PER_ADDRESS": "1/1d"]) { service, peer in
            var token = try await service.makeToken()
            try peer.reply(["RCPT": "451 4.7.1 Try again later"])
            let passwords = ["my password", "password 1", "password 2"]
            for (number, (old, new)) in zip(passwords, passwords.dropFirst()).enumerated() {
                let answer = try await service.sendForm(
                    "POST",
                    "/api/reset_password",
                    authorization: tokenHeader(token),
                    [("old_password", try TestService.encrypt(old)), ("new_password", try TestService.encrypt(new))]
                )
                token = try #require(answer.token)
                try await poll("refusal") {
                    try await service.count("SELECT count(*) FROM deliveries WHERE reason = 'RCPT 451 4.7.1'")
                        == number + 1
                }
            }
            try peer.reply([:])
            try await service.postgres.write("UPDATE deliveries SET due_at = now() AT TIME ZONE 'UTC'")
            try await poll("deliveries") { try await service.count("SELECT count(*) FROM deliveries") == 0 }
            #expect(try peer.mails().count == 1)
        }
    }

    @Test("What is refused for good marks the address until it is verified, and codes are sent all the same")
    func refusal() async throws {
        try await Self.run { service, peer in
            let token = try await service.makeToken()
            try peer.reply(["RCPT": "550 5.1.1 No such user ada@example.com"])
            try await service.requestCode("ada@example.com")
            try await poll("failure") {
                try await service.count(
                    "SELECT count(*) FROM deliveries WHERE failed_at IS NOT NULL AND reason = 'RCPT 550 5.1.1'"
                ) == 1
            }
            #expect(try await service.me(token)["email_state"] as? String == "refuses")
            try peer.reply([:])
            // A notice is not sent to it.
            let changed = try await service.form(
                "/api/reset_password",
                token: token,
                [
                    ("old_password", try TestService.encrypt("my password")),
                    ("new_password", try TestService.encrypt("another password")),
                ]
            )
            #expect(changed.status == 200)
            try await poll("dropped notice") {
                try await service.count("SELECT count(*) FROM deliveries WHERE failed_at IS NULL") == 0
            }
            #expect(try peer.mails().isEmpty)
            try await service.requestCode("ada@example.com")
            let mail = try await found("mail") { try peer.mails().first }
            let text = try #require(try await Self.parsed([mail])[0]["text"] as? String)
            let code = String(try #require(text.firstMatch(of: /\d{6}/)?.0))
            let next = try #require(try await service.signIn("ada@example.com", code: code).token)
            #expect(try await service.me(next)["email_state"] as? String == "verified")
        }
    }

    @Test("Requests do not wait for a mail server that is silent, and nothing of its words is kept")
    func silence() async throws {
        try await Self.run { service, peer in
            _ = try await service.signUp(email: "ada@example.com")
            try peer.reply(["MAIL": "silence"])
            try await service.requestCode("ada@example.com")
            try await poll("claim") {
                try await service.count("SELECT count(*) FROM deliveries WHERE claimed_until IS NOT NULL") == 1
            }
            // Ended by the first code's place in the line: all others are answered at once.
            for _ in 0..<2 { try await service.requestCode("ada@example.com") }
            #expect(try await service.signIn(email: "ada@example.com").status == 200)
        }
    }

    @Test("A server that takes no STARTTLS gets nothing, and a wrong password is no word about an address")
    func unsafe() async throws {
        try await MailServerPeer.with(.plain) { peer in
            // Not by the name of this machine, so that TLS is required.
            let settings = [
                "SMTP_URL": "smtp://[::ffff:127.0.0.1]:\(peer.port)", "MAIL_FROM": "no-reply@example.com",
            ]
            try await TestService.run(settings: settings) { service in
                _ = try await service.signUp(email: "ada@example.com")
                try await service.requestCode("ada@example.com")
                try await poll("refusal") {
                    try await service.count("SELECT count(*) FROM deliveries WHERE reason LIKE 'TLS failed%'") == 1
                }
                #expect(try peer.mails().isEmpty)
            }
        }
        try await Self.run(.implicit) { service, peer in
            try peer.reply(["AUTH": "535 5.7.8 No"])
            _ = try await service.signUp(email: "ada@example.com")
            try await service.requestCode("ada@example.com")
            try await poll("refusal") {
                try await service.count("SELECT count(*) FROM deliveries WHERE reason LIKE 'connection 535%'") == 1
            }
            #expect(try await service.count("SELECT count(*) FROM users WHERE email_refused_at IS NOT NULL") == 0)
        }
    }

    @Test("Addresses by the contract's rule that no mail can go to fail, and others arrive as one mail to one address")
    func addresses() async throws {
        try await Self.run(settings: ["RATE_LIMITS": "off"]) { service, peer in
            let good = [
                #""a b"@example.com"#, "a,b@example.com", "ada@bücher.example", "ada@xn--bcher-kva.example",
                "a'b@example.com",
            ]
            let bad = [
                "ä@example.com", "a\r\nRCPT TO:<eve@example.com>@example.com", "<eve@example.com>,a@example.com",
                "a@exa mple.com", "a@example.com>", String(repeating: "a", count: 65) + "@example.com",
            ]
            for email in good + bad {
                let answer = try await service.signUp(email: email)
                // The contract's rule refuses some of them.
                guard answer.status == 200 else { continue }
                try await service.requestCode(email)
            }
            try await poll("mails") { try peer.mails().count == good.count }
            try await poll("failures") {
                try await service.count("SELECT count(*) FROM deliveries WHERE failed_at IS NULL") == 0
            }
            let mails = try peer.mails()
            #expect(mails.allSatisfy { $0.recipients.count == 1 })
            let headers = try await Self.parsed(mails).compactMap { $0["recipients"] as? [[String]] }
            #expect(headers.count == good.count && headers.allSatisfy { $0.count == 1 })
            #expect(
                Set(mails.flatMap(\.recipients)) == [
                    #""a b"@example.com"#, #""a,b"@example.com"#, "ada@xn--bcher-kva.example", "a'b@example.com",
                ]
            )
            let failed = try await service.postgres.read(
                "SELECT DISTINCT reason FROM deliveries WHERE failed_at IS NOT NULL"
            )
            for row in failed { #expect(try row.decode("reason", as: String.self).hasPrefix("address_")) }
        }
    }
}
