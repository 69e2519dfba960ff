import ConnectionTestSupport
import Curl
import Foundation
import NIOCore
import NIOHTTP1
import SystemPackage
import TestSupport
import Testing

@Suite("Requests on the wire", .timeLimit(.minutes(2)))
struct RequestTests {
    private static func received(
        _ method: HTTPMethod,
        headers: HTTPHeaders = [:],
        body: RequestBody? = nil
    ) async throws -> ScriptedServer.Request {
        try await ScriptedServer.with([.send(.answer("200 OK"))]) { server in
            let status = try await CurlClient().send(method, server.endpoint + "/a?b=c", headers: headers, body: body)
                .status
            #expect(status == 200)
            return try #require(server.received.first)
        }
    }

    @Test(
        "Without a body, a request has no header of libcurl's but Host",
        arguments: [HTTPMethod.GET, .DELETE, .OPTIONS]
    )
    func withoutBody(method: HTTPMethod) async throws {
        let request = try await Self.received(method)
        #expect(request.line == "\(method.rawValue) /a?b=c HTTP/1.1")
        #expect(request.headers.keys.sorted() == ["host"])
    }

    @Test("A request that could have a body says that it has none", arguments: [HTTPMethod.POST, .PUT])
    func emptyBody(method: HTTPMethod) async throws {
        let request = try await Self.received(method)
        #expect(request.line == "\(method.rawValue) /a?b=c HTTP/1.1")
        #expect(request.headers.keys.sorted() == ["content-length", "host"])
        #expect(request.headers["content-length"] == "0")
    }

    @Test("A body goes with its length and no other header", arguments: [HTTPMethod.POST, .PUT, .PATCH, .DELETE])
    func bytes(method: HTTPMethod) async throws {
        let request = try await Self.received(method, body: .bytes(ByteBuffer(string: "hello")))
        #expect(request.line == "\(method.rawValue) /a?b=c HTTP/1.1")
        #expect(request.headers.keys.sorted() == ["content-length", "host"])
        #expect(request.headers["content-length"] == "5")
        #expect(request.body == ByteBuffer(string: "hello"))
    }

    @Test("An answer to HEAD has a length and no body")
    func head() async throws {
        try await ScriptedServer.with([.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"), .send(.answer("200 OK"))])
        {
            server in
            let client = CurlClient()
            var request = CurlRequest(url: server.endpoint)
            request.method = .HEAD
            let answer = try await client.answer(to: request, within: .seconds(100))
            #expect(answer.headers["content-length"] == ["7"] && answer.body.readableBytes == 0)
            _ = try await client.send(.GET, server.endpoint)
            #expect(Set(server.received.map(\.connection)).count == 1)
            #expect(server.received[0].line == "HEAD / HTTP/1.1")
        }
    }

    @Test("Headers go as they are, also empty ones and those of libcurl's own")
    func headers() async throws {
        let headers: HTTPHeaders = [
            "Host": "elsewhere.example", "Accept": "text/plain", "X-Empty": "", "X-Odd": "a;b: \u{FC}", "Expect": "x",
        ]
        let request = try await Self.received(.GET, headers: headers)
        #expect(request.headers["host"] == "elsewhere.example")
        #expect(request.headers["accept"] == "text/plain")
        #expect(request.headers["x-empty"] == "")
        #expect(request.headers["x-odd"] == "a;b: \u{FC}")
        #expect(request.headers["expect"] == "x")
    }

    @Test(
        "A body in pieces, and a range of a file, arrive whole",
        .onDedicatedThreads,
        arguments: [1, 300_000, 5_000_000]
    )
    func streams(length: Int) async throws {
        var random = SplitMix64(seed: UInt64(length))
        let bytes = (0..<length).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        let pieces = stride(from: 0, to: length, by: 70_001).map {
            ByteBuffer(bytes: bytes[$0..<min($0 + 70_001, length)])
        }
        let stream = AsyncStream { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
        let request = try await Self.received(.PUT, body: .stream(length: length, stream))
        #expect(request.body == ByteBuffer(bytes: bytes))
        try await TemporaryFolder.with { folder in
            let file = folder.appending(path: "file")
            try Data([1, 2, 3] + bytes + [4]).write(to: file)
            let descriptor = try FileDescriptor.open(file.path, .readOnly)
            do {
                defer { try? descriptor.close() }
                let body = RequestBody.file(descriptor, 3..<Int64(length + 3))
                let answer = try await Self.received(.PUT, body: body)
                #expect(answer.body == ByteBuffer(bytes: bytes))
            }
        }
    }

    @Test("A body that is longer or shorter than it says, or a file that ends early, is the source's fault")
    func lengths() async throws {
        let texts = AsyncStream { continuation in
            continuation.yield(ByteBuffer(string: "hello"))
            continuation.finish()
        }
        try await TemporaryFolder.with { folder in
            let file = folder.appending(path: "file")
            try Data([1, 2, 3]).write(to: file)
            let descriptor = try FileDescriptor.open(file.path, .readOnly)
            do {
                defer { try? descriptor.close() }
                for body in [.stream(length: 4, texts), .stream(length: 6, texts), RequestBody.file(descriptor, 0..<4)]
                {
                    try await ScriptedServer.with([.send(.answer("200 OK"))]) { server in
                        let reason = await reason { _ = try await CurlClient().send(.PUT, server.endpoint, body: body) }
                        guard case .source(let error) = reason else {
                            Issue.record("\(String(describing: reason))")
                            return
                        }
                        #expect(error is BodyLengthMismatch)
                    }
                }
            }
        }
    }

    @Test(
        "What would break out of a request's line or header is refused before anything is sent",
        arguments: [
            ("http://127.0.0.1:1/ a", HTTPMethod.GET, "A", "b"), ("http://127.0.0.1:1/\r\nX: y", .GET, "A", "b"),
            ("http://127.0.0.1:1/", .RAW(value: "GET / HTTP/1.1\r\nX:"), "A", "b"),
            ("http://127.0.0.1:1/", .GET, "A\r\nB", "b"), ("http://127.0.0.1:1/", .GET, "A", "b\r\nX: y"),
            ("http://127.0.0.1:1/", .GET, "A;", "b"), ("http://127.0.0.1:1/", .GET, "", "b"),
            ("http://127.0.0.1:1/", .GET, "A", "\u{0}"), ("ftp://127.0.0.1:1/", .GET, "A", "b"),
            ("file:///etc/passwd", .GET, "A", "b"), ("http://user:pass@127.0.0.1:1/", .GET, "A", "b"),
            ("http://", .GET, "A", "b"), ("", .GET, "A", "b"),
        ]
    )
    func malformed(url: String, method: HTTPMethod, name: String, value: String) async throws {
        let reason = await reason { _ = try await CurlClient().send(method, url, headers: [name: value]) }
        switch reason {
        case .invalidRequest, .notHTTP, .other: break
        default: Issue.record("\(String(describing: reason))")
        }
        #expect(!"\(String(describing: reason))".contains("pass"))
    }
}
