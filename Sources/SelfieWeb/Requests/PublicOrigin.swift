import Encodings
import HTTPTypes

/// Where clients reach the service: scheme, host and port.
struct PublicOrigin: Sendable {
    /// `PUBLIC_URL`, without a slash at its end; nil to take each request's own origin.
    let configured: String?

    /// The origin to put before a photo's path, such as `https://selfies.example.com`.
    ///
    /// A proxy that ends TLS sends the client's scheme in `X-Forwarded-Proto`. A client that forges it, or `Host`, only
    /// harms itself: no other client gets the answer, and no cache keeps it.
    func origin(of request: HTTPRequest) -> String {
        if let configured { return configured }
        let forwarded = Self.forwardedProtocol.flatMap { request.headerFields[$0] } ?? ""
        let isSecure = ProtocolWord(forwarded.utf8.prefix { $0 != UInt8(ascii: ",") }) == "https"
        let authority = request.authority.flatMap { Self.isAuthority($0) ? $0 : nil } ?? "localhost"
        return "\(isSecure ? "https" : "http")://\(authority)"
    }

    private static let forwardedProtocol = HTTPField.Name("X-Forwarded-Proto")

    /// A host's name has 253 bytes at most (RFC 1035, section 2.3.4), and a colon and a port follow.
    private static let maxAuthorityBytes = 259

    private static func isAuthority(_ text: String) -> Bool {
        (1...maxAuthorityBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case _ where byte.isASCIILetterOrDigit: true
                case UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "."): true
                case UInt8(ascii: "_"), UInt8(ascii: "["), UInt8(ascii: "]"): true
                default: false
                }
            }
    }
}
