import ConnectionTestSupport
import Foundation
import NIOCore
import S3TestSupport
import ServerProcesses
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

    @Test("A source that fails by itself is at fault, whatever its error", arguments: [true, false])
    func failedSource(isCancellation: Bool) async throws {
        try await ScriptedServer.with([.send(.stored)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    let body = S3Body.streamed(5) {
                        throw isCancellation ? CancellationError() as any Error : S3BodyLengthMismatch()
                    }
                    try await client.put(key: "a", body: body, contentType: "text/plain")
                }
                guard case .source(let cause) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(isCancellation ? cause is CancellationError : cause is S3BodyLengthMismatch)
            }
        }
    }

    @Test("Parallel first uploads into a missing bucket all arrive: 60 of 60")
    func firstUploads() async throws {
        for _ in 0..<10 {
            let gateway = RadosGateway()
            try await ScriptedServer.with(gateway.replies) { server in
                try await withS3Client(endpoint: server.endpoint) { client in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<6 {
                            group.addTask {
                                let body = S3Body(ByteBuffer(repeating: 0x61, count: 20_000))
                                try await client.put(key: "\(number)", body: body, contentType: "text/plain")
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
            #expect(gateway.keys == ["0", "1", "2", "3", "4", "5"])
        }
    }

    @Test(
        "What its code names is corrected: the clock, the region, expired keys",
        arguments: ["RequestTimeTooSkewed", "AuthorizationHeaderMalformed", "ExpiredToken"]
    )
    func corrected(code: String) async throws {
        let document = "<Error><Code>\(code)</Code><Region>eu-west-1</Region></Error>"
        let head = """
            HTTP/1.1 \(code.hasPrefix("Auth") ? "400 Bad Request" : "403 Forbidden")\r
            Date: Mon, 23 Nov 2020 00:00:00 GMT\r
            Content-Length: \(document.utf8.count)\r
            \r

            """
        let refusal = ScriptedServer.Reply.sendEarlyInTwo(head, pause: .milliseconds(50), document)
        let keys = ["A", "B"].map { name in
            ScriptedServer.Reply.send(.credentials(name, expiration: Date(timeIntervalSinceNow: 36_000)))
        }
        try await ScriptedServer.with([refusal, .send(.stored)]) { server in
            try await ScriptedServer.with(keys) { keyServer in
                let source = S3CredentialSource.container(try ContainerCredentials(fullURI: keyServer.endpoint))
                // Keys that were just fetched are not fetched again.
                let now = { @Sendable in Date(timeIntervalSinceNow: server.received.isEmpty ? 0 : 60) }
                try await withS3Client(endpoint: server.endpoint, source: source, now: now) { client in
                    try await client.put(key: "a", body: S3Body("hello"), contentType: "text/plain")
                }
            }
            let (first, second) = (server.received[0].headers, server.received[1].headers)
            switch code {
            case "RequestTimeTooSkewed": #expect(second["x-amz-date"]?.hasPrefix("20201123T00") == true)
            case "ExpiredToken":
                #expect(first["x-amz-security-token"] == "SESAMETOKENA")
                #expect(second["x-amz-security-token"] == "SESAMETOKENB")
            default: #expect(second["authorization"]?.contains("/eu-west-1/") == true)
            }
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
