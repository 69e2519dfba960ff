import FoundationEssentials
import HTTPTypes
import Testing

@testable import SelfieWeb

@Suite("The gallery's cookie")
struct SessionCookieTests {
    private static func headers(_ cookies: String...) -> HTTPFields {
        var headers = HTTPFields()
        for cookie in cookies { headers.append(HTTPField(name: .cookie, value: cookie)) }
        return headers
    }

    @Test(
        "Its token is found among others",
        arguments: [
            ("selfie=abc123", "abc123"), ("a=b; selfie=abc123; c=d", "abc123"), ("a=b;selfie=abc123", "abc123"),
            ("selfie=first; selfie=second", "first"), ("selfie= abc123", "abc123"),
        ]
    )
    func found(header: String, token: String) {
        #expect(Self.plain.token(in: Self.headers(header)) == token)
    }

    @Test(
        "Anything else is no token",
        arguments: [
            "", "selfie", "selfie=", "selfie=\"abc\"", "selfie=a b", "selfie=a%20b", "selfie=a, Token token=b",
            "Selfie=abc",
            "selfies=abc", "xselfie=abc", "=selfie", "selfie=é",
        ]
    )
    func missing(header: String) {
        #expect(Self.plain.token(in: Self.headers(header)) == nil)
    }

    private static let plain = SessionCookie(origin: "http://a", headers: [:])

    @Test(
        "Over HTTPS it has a name that only a secure connection to this host can set",
        arguments: [("https://a", [:]), ("http://a", [.origin: "https://a"])] as [(String, HTTPFields)]
    )
    func secure(origin: String, headers: HTTPFields) {
        let cookie = SessionCookie(origin: origin, headers: headers)
        #expect(cookie.token(in: Self.headers("selfie=abc")) == nil)
        #expect(cookie.token(in: Self.headers("selfie=abc", "__Host-selfie=def")) == "def")
        #expect(cookie.removal == "__Host-selfie=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0; Secure")
    }

    @Test("If HTTPS is unknown, either name counts, and the secure one first")
    func unknown() {
        #expect(Self.plain.token(in: Self.headers("__Host-selfie=abc")) == "abc")
        #expect(Self.plain.token(in: Self.headers("selfie=abc", "__Host-selfie=def")) == "def")
        #expect(Self.plain.removal == "selfie=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")
    }
}
