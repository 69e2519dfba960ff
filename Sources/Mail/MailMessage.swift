import Encodings
package import FoundationEssentials
import Glibc
package import NIOCore

/// A mail of plain text to one address.
package struct MailMessage: Sendable {
    /// Identifies the mail: the same in all tries to send it.
    package let id: UUID
    package let date: Date
    package let sender: MailSender
    package let recipient: MailAddress
    /// Any text; line breaks become spaces.
    package let subject: String
    /// Any text with any line breaks.
    package let text: String

    package init(
        id: UUID,
        date: Date,
        sender: MailSender,
        recipient: MailAddress,
        subject: String,
        text: String
    ) {
        (self.id, self.date, self.sender, self.recipient) = (id, date, sender, recipient)
        (self.subject, self.text) = (subject, text)
    }

    /// Header and text as a server takes them (RFC 5322), with CRLF at each line's end, in ASCII.
    package var bytes: ByteBuffer {
        let time = HTTPDate.text(of: time_t(date.timeIntervalSince1970.rounded(.down)))
        let lines = [
            "Date: \(time.replacing("GMT", with: "+0000"))",
            "Message-ID: <\(id.uuidString.lowercased())@\(sender.address.domain)>",
            "From: \(sender.header)",
            "To: <\(recipient.text)>",
            "Subject: \(MailText.header(subject))",
            // Vacation notices and the like do not answer it (RFC 3834, section 5).
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: quoted-printable",
            "",
        ]
        return ByteBuffer(string: lines.map { $0 + "\r\n" }.joined() + MailText.quotedPrintable(text))
    }
}

/// Whom mails are from.
package struct MailSender: Sendable, Hashable {
    package let name: String?
    package let address: MailAddress

    /// What is left of 78 characters for the two, beside `From: ` and the signs between them.
    private static let maxSharedCharacters = 69

    package init(name: String?, address: MailAddress) {
        (self.name, self.address) = (name, address)
    }

    /// Reads `Selfie <no-reply@example.com>`, or an address alone.
    ///
    /// - Throws: `MailAddressError`.
    package init(_ text: String) throws(MailAddressError) {
        guard text.hasSuffix(">"), let open = text.lastIndex(of: "<") else {
            self.init(name: nil, address: try MailAddress(text.trimmingWhitespace()))
            return
        }
        let address = try MailAddress(String(text[text.index(after: open)...].dropLast()))
        var name = text[..<open].trimmingWhitespace()
        if name.count > 1, name.hasPrefix("\""), name.hasSuffix("\"") { name = String(name.dropFirst().dropLast()) }
        self.init(name: name.isEmpty ? nil : name, address: address)
    }

    var header: String {
        guard let name else { return "<\(address.text)>" }
        let phrase = MailText.phrase(name)
        // On a line of its own, if both are too long for one (RFC 5322, section 2.1.1).
        let separator = phrase.utf8.count + address.text.utf8.count > Self.maxSharedCharacters ? "\r\n " : " "
        return "\(phrase)\(separator)<\(address.text)>"
    }
}
