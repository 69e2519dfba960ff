import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Glibc
import Postgres
import ProcessTestSupport
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("Processes that are killed between commit and send", .serialized, .timeLimit(.minutes(20)))
struct MailKillSoakTests {
    private static let killCount = 100
    private static let mailsPerKill = 2

    @Test("Each mail arrives, with one Message-ID, though half of them are refused at first")
    func kills() async throws {
        try await MailServerPeer.with(.plain) { peer in
            try peer.reply(["RCPT": "half"])
            let settings = [
                "SMTP_URL": "smtp://localhost:\(peer.port)", "MAIL_FROM": "no-reply@example.com",
            ]
            try await ServedSelfie.runSeveral(settings: settings) { start, postgres in
                try await Self.run(start, peer, postgres)
            }
        }
    }

    private static func run(
        _ start: () async throws -> ServedSelfie,
        _ peer: MailServerPeer,
        _ postgres: PostgresClient
    ) async throws {
        // The second takes over what the first has claimed.
        let other = try await start()
        defer { other.process.signal(SIGTERM) }
        var expected: Set<String> = []
        let passwords = [
            ("old_password", try TestService.encrypt("my password")),
            ("new_password", try TestService.encrypt("another password")),
        ]
        for kill in 0..<killCount {
            var tokens: [String] = []
            for number in 0..<mailsPerKill {
                let email = "user\(kill)-\(number)@example.com"
                tokens.append(try await other.service.makeToken(email: email))
                expected.insert(email)
            }
            let killed = try await start()
            for token in tokens {
                let answer = try await killed.service.sendForm(
                    "POST",
                    "/api/reset_password",
                    authorization: "Token token=\(token)",
                    passwords
                )
                #expect(answer.status == 200)
            }
            // At once after a commit, or while it sends.
            if kill % 2 == 1 { try await Task.sleep(for: .milliseconds(.random(in: 0...30))) }
            killed.process.signal(SIGKILL)
            _ = try await killed.process.waitForExit()
        }
        // Nobody waits for half an hour here.
        try await poll("all mails", within: .seconds(300)) {
            try await postgres.write(
                """
                UPDATE deliveries SET due_at = now() AT TIME ZONE 'UTC'
                WHERE claimed_until IS NULL AND due_at > now() AT TIME ZONE 'UTC' + interval '6 seconds'
                """
            )
            try await Task.sleep(for: .milliseconds(500))
            return try await other.service.count("SELECT count(*) FROM deliveries") == 0
        }
        var ids: [String: Set<String>] = [:]
        let mails = try peer.mails()
        for mail in mails {
            let text = String(decoding: mail.bytes, as: UTF8.self)
            let id = String(try #require(text.firstMatch(of: /(?m)^Message-ID: (\S+)/)?.1))
            ids[mail.recipients[0], default: []].insert(id)
        }
        print("\(mails.count) mails to \(ids.count) addresses, of \(expected.count)")
        #expect(Set(ids.keys) == expected)
        #expect(ids.values.allSatisfy { $0.count == 1 })
        #expect(Set(ids.values.flatMap { $0 }).count == expected.count)
    }
}
