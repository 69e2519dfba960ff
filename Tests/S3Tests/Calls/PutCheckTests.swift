import ConnectionTestSupport
import NIOCore
import S3TestSupport
import ServerProcesses
import Testing

@testable import S3

/// What the store says it has is compared with what was sent.
@Suite(.timeLimit(.minutes(1)))
struct PutCheckTests {
    private typealias Reply = ScriptedServer.Reply
    private static let opaque = Reply.send(.answer("200 OK", ["ETag": "\"opaque\""]))
    private static let other = Reply.send(.answer("200 OK", ["ETag": "\"0123456789abcdef0123456789abcdef\""]))
    private static let hello = Reply.send(.answer("200 OK", body: "hello"))

    /// Puts "hello" a number of times, and returns the results and the requests.
    private static func put(
        _ count: Int = 1,
        answers: [Reply]
    ) async throws -> (noAnswers: [S3NoAnswer?], methods: [String]) {
        try await ScriptedServer.with(answers) { server in
            let noAnswers = try await withS3Client(endpoint: server.endpoint) { client in
                var noAnswers: [S3NoAnswer?] = []
                for _ in 0..<count {
                    let error = await failure { () async throws(S3Error) in
                        try await client.put(key: "a", body: S3Body("hello"), contentType: "text/plain")
                    }
                    if case .unavailable(let failure) = error {
                        noAnswers.append(failure.cause as? S3NoAnswer)
                    } else {
                        #expect(error == nil)
                        noAnswers.append(nil)
                    }
                }
                return noAnswers
            }
            return (noAnswers, server.received.compactMap { $0.line.split(separator: " ").first.map(String.init) })
        }
    }

    private static func head(_ length: Int) -> Reply {
        .send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
    }

    @Test(
        "The MD5 as a tag is proof, however it is spelled",
        arguments: ["\"5d41402abc4b2a76b9719d911017c592\"", "5D41402ABC4B2A76B9719D911017C592"]
    )
    func sameTag(tag: String) async throws {
        let result = try await Self.put(answers: [.send(.answer("200 OK", ["ETag": tag]))])
        #expect(result.noAnswers == [nil])
        #expect(result.methods == ["PUT"])
    }

    @Test("Of a store without MD5s for tags, the first object is read back, and of the others the length is asked for")
    func opaqueTags() async throws {
        let result = try await Self.put(
            3,
            answers: [Self.opaque, Self.hello, Self.opaque, Self.head(5), Self.opaque, Self.head(4)]
        )
        #expect(result.noAnswers == [nil, nil, .otherBytes])
        #expect(result.methods == ["PUT", "GET", "PUT", "HEAD", "PUT", "HEAD"])
    }

    @Test("Other bytes are found out, and teach nothing of the store's tags", arguments: ["jello", "hell", ""])
    func otherBytes(bytes: String) async throws {
        let result = try await Self.put(
            2,
            answers: [Self.other, .send(.answer("200 OK", body: bytes)), Self.other, Self.hello]
        )
        #expect(result.noAnswers == [.otherBytes, nil])
        #expect(result.methods == ["PUT", "GET", "PUT", "GET"])
    }

    @Test("An answer without a tag is no proof")
    func noTag() async throws {
        let result = try await Self.put(answers: [.send(.answer("200 OK")), Self.hello])
        #expect(result.noAnswers == [nil])
        #expect(result.methods == ["PUT", "GET"])
    }

    @Test(
        "Where the store says that it encrypts, the length is asked for at once",
        arguments: [
            ("x-amz-server-side-encryption", "aws:kms"), ("x-amz-server-side-encryption", "aws:kms:dsse"),
            ("x-amz-server-side-encryption-customer-algorithm", "AES256"),
        ]
    )
    func ciphertext(name: String, value: String) async throws {
        let encrypted = Reply.send(.answer("200 OK", ["ETag": "\"opaque\"", name: value]))
        let result = try await Self.put(2, answers: [encrypted, Self.head(5), encrypted, Self.head(6)])
        #expect(result.noAnswers == [nil, .otherBytes])
        #expect(result.methods == ["PUT", "HEAD", "PUT", "HEAD"])
    }

    @Test("Encryption by the store's own key leaves the tag an MD5")
    func storeKey() async throws {
        let headers = ["ETag": "\"opaque\"", "x-amz-server-side-encryption": "AES256"]
        let result = try await Self.put(answers: [.send(.answer("200 OK", headers)), Self.hello])
        #expect(result.noAnswers == [nil])
        #expect(result.methods == ["PUT", "GET"])
    }

    @Test(
        "Whether an object is there is known by length and tag, and else by its bytes",
        arguments: [
            (["Content-Length": "4"], nil, false),
            (["Content-Length": "5", "ETag": "\"\(S3Body("hello").md5Hex)\""], nil, true),
            (["Content-Length": "5", "ETag": "\"opaque\""], "hello", true),
            (["Content-Length": "5", "ETag": "\"\(S3Body("jello").md5Hex)\""], "jello", false),
            (["Content-Length": "5"], "jello", false),
        ] as [([String: String], String?, Bool)]
    )
    func holds(headers: [String: String], bytes: String?, isThere: Bool) async throws {
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head = Reply.send("HTTP/1.1 200 OK\r\n\(lines)\r\n")
        var digests = ObjectDigests()
        digests.update(ByteBuffer(string: "hello"))
        let expected = digests
        try await ScriptedServer.with([head] + (bytes.map { [.send(.answer("200 OK", body: $0))] } ?? [])) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let holds = try await client.holds(key: "a", length: 5, digests: expected)
                #expect(holds == isThere)
            }
            #expect(server.received.count == (bytes == nil ? 1 : 2))
        }
    }
}
