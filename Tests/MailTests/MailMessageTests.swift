import Foundation
import NIOCore
import ProcessTestSupport
import TestSupport
import Testing

@testable import Mail

@Suite("Mails as bytes", .timeLimit(.minutes(1)))
struct MailMessageTests {
    /// What Python's strict policy reads of a mail.
    private struct Parsed: Decodable {
        let headers: [String]
        let senderName: String
        let sender: String
        let recipients: [[String]]
        let subject: String
        let text: String
        let id: String
        let seconds: Int
    }

    private static func mail(
        from sender: String = "Selfie <no-reply@example.com>",
        to recipient: String = "grace@example.com",
        subject: String = "Hello",
        text: String = "Hello\n"
    ) throws -> MailMessage {
        MailMessage(
            id: try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")),
            date: Date(timeIntervalSince1970: 1_795_000_000.9),
            sender: try MailSender(sender),
            recipient: try MailAddress(recipient),
            subject: subject,
            text: text
        )
    }

    private static func parse(_ mails: [MailMessage]) async throws -> [Parsed] {
        let lines = mails.map { Data($0.bytes.readableBytesView).base64EncodedString() + "\n" }
        let output = try await PythonScript.run("parse_mails.py", input: lines.joined())
        return try output.split(separator: "\n").map { try JSONDecoder().decode(Parsed.self, from: Data($0.utf8)) }
    }

    private static let headers = [
        "Date", "Message-ID", "From", "To", "Subject", "Auto-Submitted", "MIME-Version", "Content-Type",
        "Content-Transfer-Encoding",
    ]

    @Test("The bytes of a plain one")
    func plain() throws {
        let bytes = String(buffer: try Self.mail(text: "Your code is 123456.\n\nIt works once = good.").bytes)
        #expect(
            bytes.split(separator: "\r\n", omittingEmptySubsequences: false) == [
                "Date: Wed, 18 Nov 2026 11:06:40 +0000",
                "Message-ID: <6ba7b810-9dad-11d1-80b4-00c04fd430c8@example.com>", "From: Selfie <no-reply@example.com>",
                "To: <grace@example.com>", "Subject: Hello", "Auto-Submitted: auto-generated", "MIME-Version: 1.0",
                "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable", "",
                "Your code is 123456.", "", "It works once =3D good.", "",
            ]
        )
    }

    private static let texts = [
        "", " ", "Grüße, Ada", "写真が届きました", "שלום עולם", "مرحبا بالعالم", "Привет, мир", "สวัสดีชาวโลก", "नमस्ते दुनिया",
        "👩‍👩‍👧‍👦 family 🏳️‍🌈",
        "e\u{301}\u{301}\u{301}" + String(repeating: "\u{301}", count: 100),
        String(repeating: "long words ", count: 60),
        String(repeating: "ß", count: 255), "=?UTF-8?Q?trick?=", "a\r\nBcc: mallory@example.com\r\n\r\nbody",
        "a\nBcc: mallory@example.com", "nul\0 bell\u{7} next\u{85}line\u{2028}separator",
        "quote \" backslash \\ <a@b>, (comment)",
        "trailing space ", "=20", "tab\there",
    ]

    @Test("Names and subjects in every script, with line breaks and signs, are one header each")
    func headerTexts() async throws {
        let mails = try Self.texts.map { text in
            let name = text.replacing("<", with: "").replacing(">", with: "")
            var mail = try Self.mail(subject: text)
            mail = MailMessage(
                id: mail.id,
                date: mail.date,
                sender: MailSender(name: name, address: mail.sender.address),
                recipient: mail.recipient,
                subject: mail.subject,
                text: mail.text
            )
            return mail
        }
        for ((text, mail), parsed) in zip(zip(Self.texts, mails), try await Self.parse(mails)) {
            #expect(parsed.headers == Self.headers, "\(text)")
            #expect(parsed.recipients == [["grace", "example.com"]], "\(text)")
            #expect(parsed.sender == "no-reply@example.com", "\(text)")
            let expected = Self.line(text)
            #expect(Self.squeezed(parsed.subject) == Self.squeezed(expected), "\(text)")
            // A long name is cut off, perhaps within what people see as one character.
            let name = Self.squeezed(Self.line(mail.sender.name ?? ""))
            #expect(name.utf8.starts(with: Self.squeezed(parsed.senderName).utf8), "\(text)")
            #expect(parsed.senderName.utf8.count >= min(name.utf8.count, 40), "\(text)")
            let lines = String(buffer: mail.bytes).split(separator: "\r\n", omittingEmptySubsequences: false)
            #expect(lines.allSatisfy { $0.utf8.count <= 78 }, "\(text)")
        }
    }

    /// What a header can have of a text: its line breaks and control characters are spaces.
    private static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { "\r\n\0\u{7}\u{85}\u{2028}\t".unicodeScalars.contains($0) ? " " : $0 }
            )
        )
    }

    private static func squeezed(_ text: String) -> String {
        text.split(separator: " ").joined(separator: " ")
    }

    @Test("Texts in every script, of any length, with any line breaks, arrive as they are")
    func texts() async throws {
        let texts =
            Self.texts + [
                String(repeating: "x", count: 1_000), ".\n.hidden\nFrom me\n", "a\r\nb\rc\nd\u{2028}e",
                "space \n tab\t\n=\n", "\n\n\n",
            ]
        for (text, parsed) in zip(texts, try await Self.parse(try texts.map { try Self.mail(text: $0) })) {
            let expected = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n").replacing(
                "\u{85}",
                with: "\n"
            )
            .replacing("\u{2028}", with: "\n").replacing("\0", with: "").replacing("\u{7}", with: "")
            #expect(
                parsed.text == (expected.isEmpty || expected.hasSuffix("\n") ? expected : expected + "\n"),
                "\(text)"
            )
            #expect(parsed.headers == Self.headers, "\(text)")
        }
    }

    @Test(
        "Addresses as servers take them",
        arguments: [
            ("ada@example.com", "ada@example.com"), ("Ada.Lovelace+x@Example.COM", "Ada.Lovelace+x@example.com"),
            ("\"a,b\"@example.com", "\"a,b\"@example.com"), ("a,b@example.com", "\"a,b\"@example.com"),
            ("\"a\\\"b\"@example.com", "\"a\\\"b\"@example.com"), ("\"plain\"@example.com", "plain@example.com"),
            ("a@b@example.com", "\"a@b\"@example.com"), ("a..b@example.com", "\"a..b\"@example.com"),
            ("a b@example.com", "\"a b\"@example.com"), ("ada@bücher.example", "ada@xn--bcher-kva.example"),
            ("ada@写真.テスト", "ada@xn--g7qs82g.xn--zckzah"), ("ada@STRASSE.example", "ada@strasse.example"),
            ("ada@localhost", "ada@localhost"),
        ]
    )
    func addresses(text: String, expected: String) async throws {
        let address = try MailAddress(text)
        #expect(address.text == expected)
        let parsed = try await Self.parse([Self.mail(to: text)])
        #expect(parsed.first?.recipients.count == 1 && parsed.first?.headers == Self.headers)
        #expect(parsed.first?.recipients.first?.last == address.domain)
        #expect(try MailAddress(expected) == address)
    }

    @Test("An address of 318 characters is the longest that can be")
    func longest() async throws {
        let domain = Array(repeating: String(repeating: "d", count: 63), count: 4).joined(separator: ".").dropLast(2)
        let longest = String(repeating: "l", count: 64) + "@" + domain
        #expect(longest.count == 318)
        let parsed = try await Self.parse([Self.mail(to: longest)])
        #expect(parsed.first?.recipients == [[String(repeating: "l", count: 64), String(domain)]])
        #expect(throws: MailAddressError.tooLong) { try MailAddress("l" + longest) }
        for more in ["d", "dd", "ddd", ".d"] {
            #expect(throws: MailAddressError.tooLong, "\(more)") { try MailAddress(longest + more) }
        }
        #expect(throws: MailAddressError.tooLong) { try MailAddress("l@" + String(repeating: "d.", count: 600) + "d") }
    }

    @Test(
        "Addresses that are none, or that servers do not take",
        arguments: [
            "", "ada", "@example.com", "ada@", "ada@-a.example", "ada@a-.example", "ada@a..b", "ada@.a", "ada@a.",
            "ada@a b",
            "ada@a,b.example", "ada@[127.0.0.1]", "ada@a_b.example", "\"ada@example.com", "\"a\"b\"@example.com",
            "\"\"@example.com", "\"a\\\"@example.com", "ada@example.com\r\nRCPT TO:<b@example.com>",
            "a\0da@example.com", "a\nda@example.com",
            "ada@exa\u{7}mple.com", "adä@example.com", "ada@<example.com>", "a <b>@example.com", "\"a>\"@example.com",
        ]
    )
    func malformed(text: String) {
        #expect(throws: MailAddressError.self) { try MailAddress(text) }
        #expect(!"\(MailAddressError.malformed)".contains("@"))
    }

    @Test(
        "Senders",
        arguments: [
            ("no-reply@example.com", nil, "<no-reply@example.com>"),
            ("Selfie <no-reply@example.com>", "Selfie", "Selfie <no-reply@example.com>"),
            ("\"Ada, Inc.\" <a@example.com>", "Ada, Inc.", "\"Ada, Inc.\" <a@example.com>"),
            (" <a@example.com>", nil, "<a@example.com>"),
        ]
    )
    func senders(text: String, name: String?, header: String) throws {
        let sender = try MailSender(text)
        #expect((sender.name, sender.header) == (name, header))
    }
}
