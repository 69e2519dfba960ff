import HTTPTypes
import Testing

@testable import SelfieWeb

@Suite("Requests of the gallery's own pages")
struct SameSiteRuleTests {
    private static let origin = "https://selfie.example.com"

    private static func allows(
        _ method: HTTPRequest.Method,
        site: String?,
        from: String?,
        origin: String = origin
    ) -> Bool {
        var headers = HTTPFields()
        if let site, let name = HTTPField.Name("Sec-Fetch-Site") { headers[name] = site }
        if let from { headers[.origin] = from }
        let request = HTTPRequest(
            method: method,
            scheme: "https",
            authority: "selfie.example.com",
            path: "/gallery/photos",
            headerFields: headers
        )
        return SameSiteRule.allows(request, origin: origin)
    }

    @Test("They are let through", arguments: [.get, .post, .delete] as [HTTPRequest.Method])
    func own(method: HTTPRequest.Method) {
        #expect(Self.allows(method, site: "same-origin", from: Self.origin))
        #expect(Self.allows(method, site: "same-origin", from: nil))
        // An old browser, and one behind a proxy that does not report TLS.
        #expect(Self.allows(method, site: nil, from: Self.origin))
        let plain = "http://selfie.example.com"
        #expect(Self.allows(method, site: nil, from: Self.origin, origin: plain))
        #expect(Self.allows(method, site: nil, from: plain, origin: plain))
    }

    @Test(
        "Those of others are not",
        arguments: [.get, .post, .delete] as [HTTPRequest.Method],
        [
            ("cross-site", "https://evil.example.com"), ("same-site", "https://other.example.com"), ("none", nil),
            ("cross-site", nil), ("cross-site", origin), ("same-origin", "https://evil.example.com"),
            (nil, "https://evil.example.com"), (nil, "https://selfie.example.com.evil.com"), (nil, "null"), (nil, ""),
            (nil, "https://selfie.example.com:444"), (nil, "selfie.example.com"), ("", origin),
            (nil, "ftp://selfie.example.com"), (nil, "http://selfie.example.com"),
        ] as [(String?, String?)]
    )
    func others(method: HTTPRequest.Method, headers: (String?, String?)) {
        #expect(!Self.allows(method, site: headers.0, from: headers.1))
    }

    @Test("A browser without Sec-Fetch-Site and Origin may only read")
    func silent() {
        #expect(Self.allows(.get, site: nil, from: nil))
        #expect(Self.allows(.head, site: nil, from: nil))
        #expect(!Self.allows(.post, site: nil, from: nil))
        #expect(!Self.allows(.delete, site: nil, from: nil))
    }
}
