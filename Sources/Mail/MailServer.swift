package import Curl
import Encodings
import FoundationEssentials
import NIOCore

/// A server that takes mails by SMTP.
package struct MailServer: Sendable {
    /// A name or an address.
    package let host: String
    package let port: Int
    let protection: MailRequest.Protection
    private let credential: MailRequest.Credential?

    /// For how long a mail may be under way to the server.
    package var maxSendTime: Duration = .seconds(30)

    /// Whether it gets a user and a password.
    package var signsIn: Bool { credential != nil }

    /// Reads a URL: `smtps://user:password@host:465`, or `smtp://user:password@host:587`.
    ///
    /// The second begins without TLS, and requires STARTTLS. Only this machine itself may be spoken to without TLS, and
    /// then always is. User and password may be percent-encoded. Without a port, it is 465 or 587.
    ///
    /// - Throws: `MailServerError`, which holds nothing of the URL.
    package init(_ url: String) throws(MailServerError) {
        guard let colon = url.firstRange(of: "://") else { throw .scheme }
        let isImplicit: Bool
        switch url[..<colon.lowerBound].lowercased() {
        case "smtps": isImplicit = true
        case "smtp": isImplicit = false
        default: throw .scheme
        }
        var rest = url[colon.upperBound...]
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard rest.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !rest.contains(where: { "/?#".contains($0) }) else {
            throw .malformed
        }
        let at = rest.lastIndex(of: "@")
        credential = try at.map { at throws(MailServerError) in try Self.credential(rest[..<at]) }
        let authority = at.map { rest[rest.index(after: $0)...] } ?? rest
        (host, port) = try Self.address(authority, defaultPort: isImplicit ? 465 : 587)
        protection = isImplicit ? .implicit : Self.isThisMachine(host) ? .none : .startTLS
    }

    private static func credential(_ text: Substring) throws(MailServerError) -> MailRequest.Credential {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let user = PercentEncoding.decoded(String(parts[0])),
            let password = PercentEncoding.decoded(String(parts[1])), !user.isEmpty
        else { throw .credential }
        return MailRequest.Credential(user: user, password: password)
    }

    private static func address(
        _ text: Substring,
        defaultPort: Int
    ) throws(MailServerError) -> (host: String, port: Int) {
        let hostEnd: Substring.Index
        if text.hasPrefix("[") {
            guard let bracket = text.firstIndex(of: "]") else { throw .malformed }
            hostEnd = text.index(after: bracket)
        } else {
            hostEnd = text.firstIndex(of: ":") ?? text.endIndex
        }
        let (host, rest) = (text[..<hostEnd], text[hostEnd...])
        guard !host.isEmpty else { throw .malformed }
        guard !rest.isEmpty else { return (String(host), defaultPort) }
        guard rest.hasPrefix(":"), let port = Int(rest.dropFirst()), (1...65_535).contains(port) else {
            throw .malformed
        }
        return (String(host), port)
    }

    /// Loopback (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3).
    private static func isThisMachine(_ host: String) -> Bool {
        if host.lowercased() == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return parts.count == 4 && parts.allSatisfy { $0 != nil } && parts[0] == 127
    }

    /// What a server has said of a mail.
    package enum Outcome: Sendable, Equatable {
        case accepted
        /// Not now, or it does not let this service send mails at all.
        case notNow(MailReply)
        /// Never: the recipient, or this mail.
        case refused(MailReply)
    }

    /// Signs in, and sends nothing.
    ///
    /// - Parameter curl: The client.
    /// - Returns: The server's last reply, which may be a refusal.
    /// - Throws: `CurlFailure` when it has said nothing.
    package func check(by curl: CurlClient) async throws -> MailReply {
        try await curl.send(request(sender: "", recipient: "", message: nil), within: maxSendTime)
    }

    /// Hands a mail over.
    ///
    /// - Parameters:
    ///   - mail: The mail.
    ///   - curl: The client.
    /// - Returns: What the server has said.
    /// - Throws: `CurlFailure` when it has said nothing.
    package func send(_ mail: MailMessage, by curl: CurlClient) async throws -> Outcome {
        let reply = try await curl.send(
            request(sender: mail.sender.address.text, recipient: mail.recipient.text, message: mail.bytes),
            within: maxSendTime
        )
        switch (reply.code, reply.command) {
        case (..<400, _): return .accepted
        // What was said of the service itself says nothing of the recipient.
        case (500..., .recipient), (500..., .message): return .refused(reply)
        default: return .notNow(reply)
        }
    }

    private func request(sender: String, recipient: String, message: ByteBuffer?) -> MailRequest {
        MailRequest(
            host: host,
            port: port,
            protection: protection,
            credential: credential,
            sender: sender,
            recipient: recipient,
            message: message
        )
    }
}

/// Why a URL names no mail server.
package enum MailServerError: Error, Equatable, CustomStringConvertible {
    case scheme
    case credential
    case malformed

    package var description: String {
        switch self {
        case .scheme: "it begins with smtps:// or smtp://"
        case .credential: "before the @, it has a user and a password with a colon between them"
        case .malformed: "it has a host, and perhaps a port, behind the @"
        }
    }
}
