import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import SelfieWeb

@Suite("Requests of apps that were made for DreamFactory")
struct DreamFactoryRequestTests {
    private static func request(_ method: String, _ path: String, _ tunnelled: String? = nil) throws -> Request {
        var head = HTTPRequest(
            method: try #require(HTTPRequest.Method(method)),
            scheme: "http",
            authority: "localhost",
            path: path
        )
        if let tunnelled { head.headerFields[try #require(HTTPField.Name("X-HTTP-METHOD"))] = tunnelled }
        return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    }

    @Test(
        "A POST may name another method, in a header or the query",
        arguments: [
            ("POST", "/rest/db/bugs", "GET", "GET"), ("POST", "/rest/db/bugs", "put", "PUT"),
            ("POST", "/rest/db/bugs", "MERGE", "PATCH"), ("POST", "/rest/db/bugs?method=DELETE&ids=1", nil, "DELETE"),
            ("POST", "/rest/db/bugs", nil, "POST"), ("MERGE", "/rest/db/bugs/1", nil, "PATCH"),
            ("POST", "/rest/db/bugs", "DELET", "TRACE"), ("GET", "/rest/db/bugs", "DELETE", "GET"),
            ("PUT", "/rest/db/bugs?method=DELETE", nil, "PUT"), ("POST", "/api/records/bugs", "DELETE", "POST"),
            ("MERGE", "/api/records/bugs", nil, "MERGE"),
        ] as [(String, String, String?, String)]
    )
    func meant(method: String, path: String, tunnelled: String?, meant: String) throws {
        let request = try Self.request(method, path, tunnelled)
        #expect(DreamFactoryRequest.withMeantMethod(request).method.rawValue == meant)
    }

    @Test(
        "Passwords are private over TLS, and on this machine",
        arguments: [
            ([:], "127.0.0.1", false, true), ([:], "127.9.9.9", false, true), ([:], "::1", false, true),
            ([:], "::ffff:127.0.0.1", false, true), ([:], "10.0.0.1", false, false), ([:], "::2", false, false),
            ([:], nil, false, false), ([:], "127.0.0.1", true, false),
            (["X-Forwarded-Proto": "https"], "10.0.0.1", true, true),
            (["X-Forwarded-Proto": "HTTPS, http"], "10.0.0.1", true, true),
            (["X-Forwarded-Proto": "http"], "127.0.0.1", false, false),
            (["X-Forwarded-Proto": "http, https"], "10.0.0.1", true, false),
            (["X-Forwarded-Proto": "httpsx"], "10.0.0.1", true, false),
            (["X-Forwarded-For": "203.0.113.1"], "127.0.0.1", false, false),
            (["Forwarded": "for=203.0.113.1"], "127.0.0.1", false, false),
            (["Via": "1.1 proxy"], "127.0.0.1", false, false),
        ] as [([String: String], String?, Bool, Bool)]
    )
    func privacy(headers: [String: String], socket: String?, hasProxy: Bool, isPrivate: Bool) throws {
        var fields = HTTPFields()
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        let address = try socket.map { try SocketAddress(ipAddress: $0, port: 1) }
        #expect(DreamFactoryRequest.isPrivate(fields, socket: address, hasProxy: hasProxy) == isPrivate)
    }
}
