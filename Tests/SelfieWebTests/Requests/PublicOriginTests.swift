import HTTPTypes
import Testing

@testable import SelfieWeb

@Suite("The origin of photos' URLs")
struct PublicOriginTests {
    private static let forwardedProto = HTTPField.Name("X-Forwarded-Proto")

    private func request(authority: String?, proto: String? = nil) throws -> HTTPRequest {
        var request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/")
        request.headerFields[try #require(Self.forwardedProto)] = proto
        return request
    }

    @Test("A configured origin wins over whatever a request says")
    func configured() throws {
        let origin = PublicOrigin(configured: "https://selfies.example.com/app")
        let request = try request(authority: "evil.example", proto: "http")
        #expect(origin.origin(of: request) == "https://selfies.example.com/app")
    }

    @Test(
        "Without one, host and port are the request's own",
        arguments: ["localhost:3000", "example.com", "[::1]:8080", "127.0.0.1", "a-b.example"]
    )
    func ownHost(authority: String) throws {
        #expect(PublicOrigin(configured: nil).origin(of: try request(authority: authority)) == "http://\(authority)")
    }

    @Test(
        "The scheme is what the proxy in front of the service says",
        arguments: [
            ("https", "https"), ("HTTPS", "https"), ("https,http", "https"), ("http", "http"), ("http,https", "http"),
            ("", "http"), ("gopher", "http"), ("https\" onload=", "http"),
        ]
    )
    func scheme(proto: String, expected: String) throws {
        let request = try request(authority: "example.com", proto: proto)
        #expect(PublicOrigin(configured: nil).origin(of: request) == "\(expected)://example.com")
    }

    @Test(
        "An invalid host is not repeated",
        arguments: [nil, "", "a b", "user@host", "host/path", "ho\"st", "<script>", "exämple.com", "a,b"]
    )
    func noHost(authority: String?) throws {
        #expect(PublicOrigin(configured: nil).origin(of: try request(authority: authority)) == "http://localhost")
    }
}
