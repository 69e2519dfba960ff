import ConnectionTestSupport
import Foundation
import NIOCore
import S3TestSupport
import Synchronization
import Testing

@testable import S3

/// Ceph's radosgw 16.2 answers some requests before their bodies have come.
@Suite("Refusals that come before the body", .timeLimit(.minutes(1)))
struct EarlyRefusalTests {
    private static let document = "<Error><Code>NoSuchBucket</Code><Message>Sorry.</Message></Error>"

    /// A body that is read when the answer's head is there.
    private static func body(of length: Int, readAfter pause: Duration) -> S3Body {
        let bytes = ByteBuffer(repeating: 0x61, count: length)
        let body = S3Body(bytes)
        return S3Body(length: length, sha256Hex: body.sha256Hex, md5Hex: body.md5Hex) { range in
            try await Task.sleep(for: pause)
            return try await body.read(range)
        }
    }

    @Test(
        "Their document is read to its end, whatever the body's size",
        arguments: [1, 1_000, 100_000, 1 << 20],
        [Duration.zero, .milliseconds(50), .milliseconds(150)]
    )
    func document(length: Int, pause: Duration) async throws {
        let head = "HTTP/1.1 404 Not Found\r\nContent-Length: \(Self.document.utf8.count)\r\n\r\n"
        let refusal = ScriptedServer.Reply.sendEarlyInTwo(head, pause: .milliseconds(100), Self.document)
        try await ScriptedServer.with([refusal, .send(.answer("200 OK")), .send(.stored)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                try await client.put(key: "a", body: Self.body(of: length, readAfter: pause), contentType: "text/plain")
            }
            // The bucket is made, and the object put once more.
            #expect(server.received.map { $0.line.prefix(4) } == ["PUT ", "PUT ", "PUT "])
            #expect(server.received.last?.body.readableBytes == length)
        }
    }

    @Test(
        "A document that breaks off is asked for by a request without a body, whatever the size",
        arguments: [1_000, 1 << 20]
    )
    func brokenOff(length: Int) async throws {
        let head = "HTTP/1.1 404 Not Found\r\nContent-Length: 1000\r\n\r\n<Error>"
        let missing = String.answer("404 Not Found", body: Self.document)
        let replies: [ScriptedServer.Reply] = [
            .sendAndClose(head), .send(missing), .send(.answer("200 OK")), .send(.stored),
        ]
        try await ScriptedServer.with(replies) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let body = S3Body(ByteBuffer(repeating: 0x61, count: length))
                try await client.put(key: "a", body: body, contentType: "text/plain")
            }
            #expect(server.received.map { $0.line.prefix(4) } == ["PUT ", "GET ", "PUT ", "PUT "])
        }
    }

    @Test("Connections whose requests were taken are used again, as soon as their bodies have ended")
    func reuse() async throws {
        try await ScriptedServer.with([ScriptedServer.Reply](repeating: .send(.stored), count: 12)) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                for _ in 0..<12 {
                    try await client.put(key: "a", body: S3Body("hello"), contentType: "text/plain")
                }
            }
            #expect(Set(server.received.map(\.connection)).count < 8)
        }
    }
}
