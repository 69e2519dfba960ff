import ConnectionTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import S3TestSupport
import Testing

@testable import S3

/// What no store may ever see of us, and what each must see.
@Suite(.timeLimit(.minutes(1)))
struct HeaderTests {
    /// Every call of the client, by name.
    static let calls: [(name: String, call: @Sendable (S3Client) async throws -> Void)] = [
        ("put", { try await $0.put(key: "a", body: S3Body("x"), contentType: "image/jpeg") }),
        ("get", { _ = try await $0.get(key: "a") }),
        ("get of a part", { _ = try await $0.get(key: "a", range: 0..<5) }),
        ("head", { _ = try await $0.head(key: "a") }),
        (
            "put in parts",
            { client in
                let body = S3Body(ByteBuffer(repeating: 0, count: 11))
                try await client.put(key: "a", body: body, contentType: "image/jpeg")
            }
        ),
        ("delete", { try await $0.delete(key: "a") }),
        ("delete of many", { _ = try await $0.delete(keys: ["a", "b"]) }),
        ("list", { _ = try await $0.list() }),
        ("list of uploads", { _ = try await $0.listUploads() }),
        ("abort of an upload", { try await $0.abortUpload(key: "a", uploadID: "b") }),
        ("prepare", { try await $0.prepare() }),
        ("create bucket", { try await $0.createBucket() }),
    ]

    private static let uploads: S3UploadPolicy = {
        var policy = S3UploadPolicy()
        policy.maxSinglePutBytes = 10
        policy.partBytes = 10
        return policy
    }()

    @Test("No call sends an ACL, also when it has to make the bucket first", arguments: calls.indices)
    func noACL(index: Int) async throws {
        let (name, call) = Self.calls[index]
        // The first answer makes a put make the bucket; other calls just fail by it, and are done again.
        let missing = ScriptedServer.Reply.send(.failure("404 Not Found", code: "NoSuchBucket"))
        let fine = ScriptedServer.Reply.send(.answer("200 OK"))
        try await ScriptedServer.with([missing, fine, fine, fine, fine]) { server in
            try await withS3Client(endpoint: server.endpoint, region: "eu-west-1", uploads: Self.uploads) { client in
                for _ in 0..<2 { try? await call(client) }
            }
            #expect(server.received.count >= 2, "\(name)")
            for request in server.received {
                let names = request.headers.keys
                #expect(!names.contains { $0.contains("acl") || $0.hasPrefix("x-amz-grant") }, "\(name): \(names)")
                #expect(!request.target.lowercased().contains("acl"), "\(name): \(request.line)")
            }
        }
    }

    @Test(
        "The host is signed and sent without a port that its scheme implies, and with every other",
        arguments: [
            ("http://store.example", "photos.store.example"),
            ("http://store.example:80", "photos.store.example"),
            ("http://store.example:443", "photos.store.example:443"),
            ("https://store.example", "photos.store.example"),
            ("https://store.example:443", "photos.store.example"),
            ("https://store.example:80", "photos.store.example:80"),
            ("https://store.example:8443", "photos.store.example:8443"),
            ("http://127.0.0.1:80", "127.0.0.1"),
            ("http://[::1]:9000", "[::1]:9000"),
        ]
    )
    func host(endpoint: String, host: String) async throws {
        try await withS3Client(endpoint: endpoint) { client in
            let url = try await client.presignedGet(key: "a", expires: 60, at: SignerVectorTests.date).url
            let parts = url.split(separator: "/", maxSplits: 3)
            #expect(parts[1] == host)
            let path = "/" + parts[2...].joined(separator: "/").prefix { $0 != "?" }
            let expected = try SignerVectorTests.signer().presign(
                UnsignedRequest(method: "GET", encodedPath: path, headers: ["Host": host]),
                expires: 60,
                at: SignerVectorTests.date
            )
            #expect(url.hasSuffix("?\(expected.encodedQuery)"))
        }
    }
}
