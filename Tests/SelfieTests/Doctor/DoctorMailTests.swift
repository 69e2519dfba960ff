import DatabaseTestSupport
import Foundation
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie doctor and mails", .timeLimit(.minutes(3)))
struct DoctorMailTests {
    private static func run(
        _ mail: [String: String],
        _ prepare: (PostgresClient) async throws -> Void = { _ in }
    ) async throws -> DoctorRun {
        try await TestCluster.withDatabase { url in
            try await TemporaryFolder.with { folder in
                try await TestCluster.withClient(url) { try await prepare($0) }
                let settings = DoctorRun.settings(databaseURL: url, objects: .disk(folder))
                return try await DoctorRun(settings.merging(mail) { $1 })
            }
        }
    }

    private static func settings(_ url: String, _ peer: MailServerPeer? = nil) -> [String: String] {
        var settings = ["SMTP_URL": url, "MAIL_FROM": "no-reply@example.com"]
        settings["SSL_CERT_FILE"] = peer?.authorityPath
        return settings
    }

    @Test("A server that lets the service in is well, and gets no mail")
    func well() async throws {
        try await MailServerPeer.with(.implicit) { peer in
            let run = try await Self.run(Self.settings("smtps://ada:open%20sesame@localhost:\(peer.port)", peer))
            #expect(run.text.contains("ok Mail: localhost:\(peer.port) lets the service sign in"))
            #expect(run.text.contains("ok Deliveries: none waits"))
            #expect(run.status == 0)
            #expect(try peer.mails().isEmpty)
        }
        try await MailServerPeer.with(.plain) { peer in
            let run = try await Self.run(Self.settings("smtp://localhost:\(peer.port)"))
            #expect(run.text.contains("ok Mail: localhost:\(peer.port) lets the service send"))
        }
        #expect(try await Self.run([:]).text.contains("ok Mail: none is sent, since SMTP_URL is not set"))
    }

    @Test("A wrong password, no TLS, an unknown certificate and a closed port are named, with what to do")
    func wrong() async throws {
        try await MailServerPeer.with(.implicit) { peer in
            let password = try await Self.run(Self.settings("smtps://ada:wrong@localhost:\(peer.port)", peer))
            #expect(password.status == 1)
            #expect(
                password.text.contains(
                    "FAILED Mail: localhost:\(peer.port) does not let the service sign in: it replied 535"
                )
            )
            #expect(password.text.contains("What to do: Correct user and password in SMTP_URL."))
            let unknown = try await Self.run(Self.settings("smtps://ada:open%20sesame@localhost:\(peer.port)"))
            #expect(unknown.text.contains("the certificate's issuer is not trusted"))
            #expect(unknown.text.contains("What to do: Set SSL_CERT_FILE"))
            for run in [password, unknown] { #expect(!run.text.contains("sesame")) }
        }
        try await MailServerPeer.with(.plain) { peer in
            let plain = try await Self.run(Self.settings("smtp://[::ffff:127.0.0.1]:\(peer.port)"))
            #expect(plain.text.contains("the mail server offers no STARTTLS"))
            #expect(plain.text.contains("What to do: Use smtps:// and port 465."))
        }
        let closed = try await Self.run(Self.settings("smtp://localhost:1"))
        #expect(closed.text.contains("FAILED Mail: localhost:1 can't be used: the connection was refused"))
        let unresolved = try await Self.run(Self.settings("smtp://nowhere.invalid"))
        #expect(
            unresolved.text.contains("FAILED Mail: nowhere.invalid:587 can't be used: the host's name has no address")
        )
    }

    @Test("Each template that can't be used is named, and the service does not start with it")
    func templates() async throws {
        try await TemporaryFolder.with { folder in
            try "Subject: Hello\n\nNo code here".write(
                to: folder.appending(path: "reset_code.txt"),
                atomically: true,
                encoding: .utf8
            )
            let mail = Self.settings("smtp://localhost:1").merging(["MAIL_TEMPLATES": folder.path]) { $1 }
            let run = try await Self.run(mail)
            #expect(run.text.contains("FAILED Mail: the template reset_code.txt must have {code} in its text"))
            try await TestCluster.withDatabase { url in
                let settings = TestService.settings(databaseURL: url, objects: .disk(folder)).merging(mail) { $1 }
                let served = try await SelfieProcess.run(
                    ["serve", "--port", "0", "--migrations", ServedSelfie.migrationsPath],
                    environment: settings
                )
                #expect(served.status == 1)
                #expect(served.errors.contains("The template reset_code.txt must have {code} in its text."))
            }
        }
    }

    @Test("What waits for long, and what failed, is a warning")
    func deliveries() async throws {
        let run = try await Self.run([:]) { postgres in
            try await postgres.write(
                """
                INSERT INTO deliveries (id, channel, target, cause, created_at, ends_at, failed_at)
                SELECT gen_random_uuid(), 'mail', 'mail', '{}', now() AT TIME ZONE 'UTC' - interval '1 hour',
                    now() AT TIME ZONE 'UTC' + interval '1 hour',
                    CASE number WHEN 1 THEN now() AT TIME ZONE 'UTC' END
                FROM generate_series(1, 3) AS number
                """
            )
        }
        #expect(run.status == 0)
        #expect(run.text.contains("WARNING Deliveries: 2 of mail wait, the oldest since 36"))
        #expect(run.text.contains("WARNING Deliveries: 1 of mail failed in the last seven days"))
    }
}
