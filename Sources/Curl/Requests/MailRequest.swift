package import NIOCore

/// A mail to hand to a server by SMTP (RFC 5321).
///
/// Nothing here may hold a line break or another control character but the message: libcurl passes them on.
package struct MailRequest: Sendable {
    /// How a connection is protected.
    package enum Protection: Sendable {
        /// TLS from the first byte (RFC 8314).
        case implicit
        /// STARTTLS (RFC 3207); without it, nothing is sent.
        case startTLS
        /// None.
        case none
    }

    /// The server, a name or an address; an IPv6 address has brackets.
    package var host: String
    package var port: Int
    package var protection: Protection
    /// Both or none.
    package var credential: Credential?
    /// The address that bounces go to, as in `MAIL FROM`.
    package var sender: String
    /// The only address that gets it, as in `RCPT TO`.
    package var recipient: String
    /// Header and text, with CRLF at each line's end; nil to sign in only.
    package var message: ByteBuffer?

    package struct Credential: Sendable {
        package let user: String
        package let password: String

        package init(user: String, password: String) {
            (self.user, self.password) = (user, password)
        }
    }

    package init(
        host: String,
        port: Int,
        protection: Protection,
        credential: Credential?,
        sender: String,
        recipient: String,
        message: ByteBuffer?
    ) {
        (self.host, self.port, self.protection, self.credential) = (host, port, protection, credential)
        (self.sender, self.recipient, self.message) = (sender, recipient, message)
    }

    var url: String { "\(protection == .implicit ? "smtps" : "smtp")://\(host):\(port)" }

    /// Whether libcurl may get it.
    var isSafe: Bool {
        let isVisible = { (text: String) in !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
        let isText = { (text: String) in text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        let isPath = { (text: String) in
            // A quoted local part may have spaces.
            !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x3C && $0 != 0x3E }
        }
        return isVisible(host) && !host.contains("/") && !host.contains("@") && (1...65_535).contains(port)
            && (message == nil || isPath(sender) && isPath(recipient))
            && credential.map { isText($0.user) && isText($0.password) } ?? true
    }
}

/// The last reply of a mail server (RFC 5321, section 4.2).
package struct MailReply: Sendable, Equatable {
    /// What the server replied to.
    package enum Command: Sendable {
        /// Nothing yet, or one of the commands before the mail: the greeting, TLS, signing in.
        case connection
        /// `MAIL FROM`.
        case sender
        /// `RCPT TO`.
        case recipient
        /// `DATA`, and the message.
        case message

        /// - Parameter line: What libcurl has sent. The result is nil for the end of a session, whose reply says nothing.
        init?(line: some Collection<UInt8>) {
            if line.starts(with: "QUIT".utf8) { return nil }
            self =
                if line.starts(with: "MAIL ".utf8) {
                    .sender
                } else if line.starts(with: "RCPT ".utf8) {
                    .recipient
                } else if line.starts(with: "DATA".utf8) {
                    .message
                } else {
                    .connection
                }
        }
    }

    package let command: Command
    /// 250 when it has taken the mail; 4xx for now, 5xx for good.
    package let code: Int
    /// The enhanced status code, such as `5.1.1` (RFC 3463), if there is one.
    package let enhancedCode: String?

    package init(_ command: Command, code: Int, enhancedCode: String? = nil) {
        (self.command, self.code, self.enhancedCode) = (command, code, enhancedCode)
    }

    /// Reads a line of a reply, such as `550 5.1.1 No such user`; all but the last line of several have a hyphen.
    init?(_ command: Command, line: some Collection<UInt8>) {
        let text = String(decoding: line, as: UTF8.self)
        guard let code = Int(text.prefix(3)), (200..<600).contains(code) else { return nil }
        let word = text.dropFirst(4).prefix { !$0.isWhitespace }
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        let isEnhanced =
            parts.count == 3 && parts[0] == "\(code / 100)"
            && parts.allSatisfy { (1...3).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        self.init(command, code: code, enhancedCode: isEnhanced ? String(word) : nil)
    }
}
