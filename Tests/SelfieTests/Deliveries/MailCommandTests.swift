import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie mail test", .timeLimit(.minutes(2)))
struct MailCommandTests {
    private static func run(_ address: String, _ environment: [String: String]) async throws -> ProgramOutcome {
        try await SelfieProcess.run(["mail", "test", address], environment: environment)
    }

    @Test("It sends a mail at once, or says what the server replied")
    func sends() async throws {
        try await MailServerPeer.with(.implicit) { peer in
            let environment = [
                "SMTP_URL": "smtps://ada:open%20sesame@localhost:\(peer.port)", "SSL_CERT_FILE": peer.authorityPath,
                "MAIL_FROM": "Selfie <no-reply@example.com>",
            ]
            let sent = try await Self.run("grace@example.com", environment)
            #expect(sent.status == 0 && sent.output == "The server has taken the mail.\n")
            #expect(try peer.mails().map(\.recipients) == [["grace@example.com"]])
            try peer.reply(["RCPT": "550 5.1.1 Nobody grace@example.com"])
            let refused = try await Self.run("grace@example.com", environment)
            #expect(refused.status == 1 && refused.errors.contains("The server refused the mail: 550 5.1.1."))
            let untrusted = try await Self.run("grace@example.com", environment.filter { $0.key != "SSL_CERT_FILE" })
            #expect(untrusted.errors.contains("the certificate's issuer is not trusted"))
            for outcome in [sent, refused, untrusted] {
                #expect(!"\(outcome.output)\(outcome.errors)".contains("sesame"))
            }
            let malformed = try await Self.run("grace\r\n@example.com", environment)
            #expect(malformed.errors.contains("No mail can go there: the address is malformed."))
            #expect(try peer.mails().count == 1)
        }
    }

    @Test("Without a server it says so, and names settings that are missing")
    func settings() async throws {
        #expect(try await Self.run("a@b.example", [:]).errors.contains("SMTP_URL is not set, so no mail is sent."))
        let unnamed = try await Self.run("a@b.example", ["SMTP_URL": "smtp://localhost:1"])
        #expect(unnamed.errors.contains("MAIL_FROM is missing (whom mails are from)"))
        let refused = try await Self.run(
            "a@b.example",
            ["SMTP_URL": "smtp://localhost:1", "MAIL_FROM": "a@b.example"]
        )
        #expect(refused.errors.contains("The server can't be used: the connection was refused. Run selfie doctor."))
    }

    @Test("selfie users password, email and delete send notices, sealed for the service")
    func notices() async throws {
        try await MailServerPeer.with(.plain) { peer in
            let mail = ["SMTP_URL": "smtp://localhost:\(peer.port)", "MAIL_FROM": "no-reply@example.com"]
            try await ServedSelfie.run(settings: mail) { served in
                let service = served.service
                for name in ["ada", "bob"] { _ = try await service.signUp(email: "\(name)@example.com") }
                let environment = TestService.settings(databaseURL: service.databaseURL, objects: service.objects)
                    .merging(mail) { $1 }
                for arguments in [
                    ["password", "ada@example.com", "--generate"], ["email", "ada@example.com", "new@example.com"],
                    ["delete", "bob@example.com", "--yes"],
                ] {
                    let outcome = try await SelfieProcess.run(["users"] + arguments, environment: environment)
                    #expect(outcome.status == 0, "\(outcome.errors)")
                }
                try await poll("mails") { try peer.mails().count == 3 }
                #expect(
                    try peer.mails().flatMap(\.recipients).sorted() == [
                        "ada@example.com", "ada@example.com", "bob@example.com",
                    ]
                )
                let shown = try await SelfieProcess.run(["users", "show", "new@example.com"], environment: environment)
                #expect(shown.output.contains("new@example.com (unverified)"))
                // Without the settings of mails, the command works all the same.
                let quiet = try await SelfieProcess.run(
                    ["users", "password", "new@example.com", "--generate"],
                    environment: ["DATABASE_URL": service.databaseURL]
                )
                #expect(quiet.status == 0)
                #expect(try await service.count("SELECT count(*) FROM deliveries") == 0)
            }
        }
    }
}
