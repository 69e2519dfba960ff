import Encodings
import FoundationEssentials
import HTTPTypes
import Hummingbird
import SelfieAccounts

/// The cookie that holds the token of the gallery's user.
///
/// Scripts can't read it, and browsers send it to this site only. On a secure site, its name has a prefix: browsers
/// take a cookie with that prefix from no other host and over no other connection. Source: RFC 6265bis, sections 4.1.2
/// and 4.1.3.
struct SessionCookie {
    private let isSecure: Bool

    /// The attributes of every such cookie.
    private static let attributes = "Path=/; HttpOnly; SameSite=Strict"
    private static let secureName = "__Host-selfie"
    private static let plainName = "selfie"

    /// - Parameters:
    ///   - origin: The service's own origin, as far as it knows.
    ///   - headers: The request's headers, which come from the service's own page. A proxy that ends TLS may not say so, but
    ///     `Origin` does. Browsers send it with all calls that set the cookie.
    init(origin: String, headers: HTTPFields) {
        isSecure = origin.hasPrefix("https://") || headers[.origin]?.utf8.starts(with: "https://".utf8) == true
    }

    private var name: String { isSecure ? Self.secureName : Self.plainName }

    /// The token that a request brings; nil when it brings none.
    ///
    /// Where it is not certain that the site has no TLS, either cookie counts, and the secure one first.
    func token(in headers: HTTPFields) -> String? {
        let cookies = Cookies(from: headers[values: .cookie])
        func token(named name: String) -> String? {
            let token = cookies[name]?.value.trimmingWhitespace() ?? ""
            return token.utf8.allSatisfy(\.isASCIILetterOrDigit) && !token.isEmpty ? token : nil
        }
        return token(named: Self.secureName) ?? (isSecure ? nil : token(named: Self.plainName))
    }

    /// The header `Set-Cookie` for a new token.
    func setting(_ issued: IssuedToken, at date: Date) -> String {
        text(issued.token, maxAge: max(0, Int(issued.expiry.timeIntervalSince(date))))
    }

    /// The header `Set-Cookie` that removes it.
    var removal: String { text("", maxAge: 0) }

    private func text(_ value: String, maxAge: Int) -> String {
        "\(name)=\(value); \(Self.attributes); Max-Age=\(maxAge)" + (isSecure ? "; Secure" : "")
    }
}
