import Curl
import Foundation
import NIOCore
import ProcessTestSupport
import ServerProcesses
import Testing

@testable import Mail

@Suite("Mails to a server", .timeLimit(.minutes(2)))
struct MailServerTests {
    private static func mail(to recipient: String = "grace@example.com", text: String = "Hello") throws -> MailMessage {
        MailMessage(
            id: try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")),
            date: Date(timeIntervalSince1970: 1_795_000_000),
            sender: try MailSender("Selfie <no-reply@example.com>"),
            recipient: try MailAddress(recipient),
            subject: "Hello",
            text: text
        )
    }

    @Test(
        "A mail arrives, over TLS and signed in where the server wants that",
        arguments: [
            (MailServerPeer.Protection.implicit, "smtps://ada:open%20sesame@localhost"),
            // This machine by an address that does not say so.
            (.starttls, "smtp://ada:open%20sesame@[::ffff:127.0.0.1]"), (.plain, "smtp://127.0.0.1"),
            (.none, "smtp://ada:open%20sesame@localhost"),
        ]
    )
    func arrives(protection: MailServerPeer.Protection, url: String) async throws {
        try await MailServerPeer.with(protection) { peer in
            let server = try MailServer("\(url):\(peer.port)")
            let mail = try Self.mail(to: "\"a,b\"@example.com", text: ".hidden\nFrom here\n.\n")
            #expect(try await server.send(mail, by: peer.curl) == .accepted)
            #expect(try await server.send(Self.mail(), by: peer.curl) == .accepted)
            let received = try peer.mails()
            #expect(received.map(\.recipients) == [["\"a,b\"@example.com"], ["grace@example.com"]])
            #expect(received.allSatisfy { $0.sender == "no-reply@example.com" })
            #expect(received.allSatisfy { $0.isEncrypted == [.starttls, .implicit].contains(protection) })
            #expect(received.allSatisfy { $0.user == (protection == .plain ? nil : "ada") })
            #expect(received.first?.bytes == Data(mail.bytes.readableBytesView))
        }
    }

    @Test("Without STARTTLS, or with a certificate that is not trusted, nothing is sent, not even the password")
    func noTLS() async throws {
        try await MailServerPeer.with(.none) { peer in
            let server = try MailServer("smtp://ada:open%20sesame@[::ffff:127.0.0.1]:\(peer.port)")
            await Self.expect(.tls(.notOffered)) { try await server.send(Self.mail(), by: peer.curl) }
        }
        for (protection, scheme) in [(MailServerPeer.Protection.starttls, "smtp"), (.implicit, "smtps")] {
            try await MailServerPeer.with(protection) { peer in
                let server = try MailServer("\(scheme)://ada:open%20sesame@[::ffff:127.0.0.1]:\(peer.port)")
                let curl = CurlClient(CurlConfiguration(environment: [:]))
                await Self.expect(.tls(.unknownIssuer)) { try await server.send(Self.mail(), by: curl) }
                #expect(try peer.mails().isEmpty)
            }
        }
    }

    private static func expect(
        _ reason: CurlError,
        sourceLocation: SourceLocation = #_sourceLocation,
        of body: () async throws -> MailServer.Outcome
    ) async {
        let failure = await #expect(throws: CurlFailure.self, sourceLocation: sourceLocation) { _ = try await body() }
        #expect(failure?.description == reason.description, sourceLocation: sourceLocation)
    }

    @Test(
        "A refusal of recipient or message is final, all else is for now",
        arguments: [
            (
                ["RCPT": "450 4.2.0 Greylisted"],
                MailServer.Outcome.notNow(MailReply(.recipient, code: 450, enhancedCode: "4.2.0"))
            ),
            (["RCPT": "550 5.1.1 No such user"], .refused(MailReply(.recipient, code: 550, enhancedCode: "5.1.1"))),
            (["RCPT": "553 grace@example.com?"], .refused(MailReply(.recipient, code: 553))),
            (["DATA": "554 5.7.1 Spam"], .refused(MailReply(.message, code: 554, enhancedCode: "5.7.1"))),
            (["DATA": "451 4.3.0 Later"], .notNow(MailReply(.message, code: 451, enhancedCode: "4.3.0"))),
            (["MAIL": "550 5.7.1 Not you"], .notNow(MailReply(.sender, code: 550, enhancedCode: "5.7.1"))),
            (["AUTH": "no"], .notNow(MailReply(.connection, code: 535, enhancedCode: "5.7.8"))),
        ]
    )
    func refusals(replies: [String: String], outcome: MailServer.Outcome) async throws {
        try await MailServerPeer.with(.none) { peer in
            let server = try MailServer("smtp://ada:open%20sesame@localhost:\(peer.port)")
            try peer.reply(replies)
            for _ in 0..<2 { #expect(try await server.send(Self.mail(), by: peer.curl) == outcome) }
            #expect(try peer.mails().isEmpty)
            // The connection that was refused spoils nothing.
            try peer.reply([:])
            #expect(try await server.send(Self.mail(), by: peer.curl) == .accepted)
            #expect(try peer.mails().count == 1)
        }
    }

    @Test("A wrong password is for now; a server that lets nobody sign in is told apart")
    func signIn() async throws {
        try await MailServerPeer.with(.none) { peer in
            let server = try MailServer("smtp://ada:wrong@localhost:\(peer.port)")
            let outcome = try await server.send(Self.mail(), by: peer.curl)
            #expect(outcome == .notNow(MailReply(.connection, code: 535, enhancedCode: "5.7.8")))
            let unsigned = try MailServer("smtp://localhost:\(peer.port)")
            guard case .notNow(let reply) = try await unsigned.send(Self.mail(), by: peer.curl) else {
                Issue.record("taken without signing in")
                return
            }
            #expect(reply.code == 530 && reply.command == .sender)
            #expect(try peer.mails().isEmpty)
        }
        try await MailServerPeer.with(.plain) { peer in
            let server = try MailServer("smtp://ada:open%20sesame@localhost:\(peer.port)")
            await Self.expect(.loginNotOffered) { try await server.send(Self.mail(), by: peer.curl) }
            #expect(try peer.mails().isEmpty)
        }
    }

    @Test("A server that ends the connection is a failure", arguments: ["MAIL", "RCPT", "DATA"])
    func cut(command: String) async throws {
        try await MailServerPeer.with(.plain) { peer in
            try peer.reply([command: "cut"])
            let server = try MailServer("smtp://localhost:\(peer.port)")
            await Self.expect(.cutOff) { try await server.send(Self.mail(), by: peer.curl) }
            try peer.reply([:])
            #expect(try await server.send(Self.mail(), by: peer.curl) == .accepted)
            #expect(try peer.mails().count == 1)
        }
    }

    @Test("A server that is silent, or not there, is a failure", arguments: ["MAIL", "RCPT", "DATA"])
    func silence(command: String) async throws {
        try await MailServerPeer.with(.plain) { peer in
            try peer.reply([command: "silence"])
            var server = try MailServer("smtp://localhost:\(peer.port)")
            server.maxSendTime = .milliseconds(300)
            await Self.expect(.overdue) { try await server.send(Self.mail(), by: peer.curl) }
            #expect(try peer.mails().isEmpty)
        }
        let server = try MailServer("smtp://127.0.0.1:1")
        await Self.expect(.refused) {
            try await server.send(Self.mail(), by: CurlClient(CurlConfiguration(environment: [:])))
        }
    }

    @Test(
        "No other request waits for a server that is silent, nor for what it says in the end",
        arguments: ["MAIL", "DATA", "QUIT"]
    )
    func aside(command: String) async throws {
        try await MailServerPeer.with(.plain) { peer in
            try peer.reply([command: "silence"])
            let server = try MailServer("smtp://localhost:\(peer.port)")
            let mail = Task { try await server.send(Self.mail(), by: peer.curl) }
            try await poll("silence") { peer.isSilent }
            if command == "QUIT" { #expect(try await mail.value == .accepted) }
            for _ in ["while it waits", "once it was given up"] {
                let failure = await #expect(throws: CurlFailure.self) {
                    let request = CurlRequest(url: "http://localhost:\(peer.port)")
                    _ = try await peer.curl.answer(to: request, within: .seconds(20))
                }
                #expect(failure?.description == CurlError.notHTTP.description)
                mail.cancel()
                _ = await mail.result
            }
            // Long before its time is over.
            try await poll("it is hung up", within: .seconds(15)) { peer.isLeft }
            // What was cut off did not look whole.
            #expect(try peer.mails().count == (command == "QUIT" ? 1 : 0))
        }
    }

    @Test(
        "The URL of a server",
        arguments: [
            ("smtps://a:b@mail.example.com:466", "mail.example.com", 466),
            ("smtps://mail.example.com", "mail.example.com", 465),
            ("SMTP://a%40b:%3a@mail.example.com/", "mail.example.com", 587), ("smtp://[::1]:25", "[::1]", 25),
        ]
    )
    func url(url: String, host: String, port: Int) throws {
        let server = try MailServer(url)
        #expect((server.host, server.port) == (host, port))
    }

    @Test(
        "A URL that names no server is refused, and the reason holds nothing of it",
        arguments: [
            ("https://mail.example.com", MailServerError.scheme), ("mail.example.com", .scheme), ("", .scheme),
            ("smtp://secret@mail.example.com", .credential), ("smtp://:secret@mail.example.com", .credential),
            ("smtp://a:%zz@mail.example.com", .credential), ("smtp://a:secret@", .malformed), ("smtp://", .malformed),
            ("smtp://mail.example.com:0", .malformed), ("smtp://mail.example.com:65536", .malformed),
            ("smtp://mail.example.com/path", .malformed), ("smtp://mail.example.com?a", .malformed),
            ("smtp://mail .example.com", .malformed), ("smtp://[::1", .malformed), ("smtp://[::1]25", .malformed),
        ]
    )
    func malformed(url: String, error: MailServerError) {
        #expect(throws: error) { try MailServer(url) }
        #expect(!error.description.contains("secret"))
    }

    @Test(
        "Only this machine is spoken to without TLS",
        arguments: [
            ("localhost", true), ("127.0.0.1", true), ("127.9.9.9", true), ("[::1]", true),
            ("127.0.0.1.example.com", false),
            ("localhost.example.com", false), ("128.0.0.1", false), ("127.1", false), ("[::2]", false),
            ("0.0.0.0", false),
        ]
    )
    func plain(host: String, isPlain: Bool) throws {
        #expect((try MailServer("smtp://\(host)").protection == .none) == isPlain)
        #expect(try MailServer("smtps://\(host)").protection == .implicit)
    }
}
