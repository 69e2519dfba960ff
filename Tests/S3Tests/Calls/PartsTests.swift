import ConnectionTestSupport
import Foundation
import NIOCore
import S3TestSupport
import ServerProcesses
import Testing

@testable import S3

/// Objects that go in parts.
@Suite(.timeLimit(.minutes(2)))
struct PartsTests {
    /// The least that AWS and rclone take for a part but the last.
    static let small: S3UploadPolicy = {
        var policy = S3UploadPolicy()
        policy.maxSinglePutBytes = 5 << 20
        policy.partBytes = 5 << 20
        policy.partsInFlight = 2
        return policy
    }()

    @Test(
        "An object is cut into parts that are all of it, in order",
        arguments: [(0, 0), (1, 1), (8 << 20, 1), (8 << 20 + 1, 2), (1 << 30, 128), (200_000 << 20, 10_000)]
    )
    func ranges(length: Int, count: Int) {
        let parts = S3UploadPolicy().parts(length: length)
        #expect(parts.count == count)
        #expect(parts.count <= 10_000)
        #expect(parts.first?.lowerBound ?? 0 == 0 && parts.last?.upperBound ?? 0 == length)
        for (part, next) in zip(parts, parts.dropFirst()) { #expect(part.upperBound == next.lowerBound) }
    }

    @Test(
        "Many objects at once have fewer parts on their way each, but never none",
        arguments: [(1, 4), (4, 4), (5, 3), (8, 2), (9, 1), (16, 1), (1_000, 1)]
    )
    func partsInFlight(objectCount: Int, count: Int) {
        #expect(S3UploadPolicy().partsInFlight(among: objectCount) == count)
    }

    @Test("A part that fails is sent again; one that keeps failing aborts the upload")
    func failingPart() async throws {
        let broken = ScriptedServer.Reply.send(.failure("500 Internal Server Error", code: "InternalError"))
        let script: [ScriptedServer.Reply] = [
            // The first part is refused once, the second for ever.
            .send(Self.created), broken, .send(.stored), broken, broken, broken, .send(.answer("204 No Content")),
        ]
        try await ScriptedServer.with(script) { server in
            try await withS3Client(endpoint: server.endpoint, uploads: Self.oneByOne) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: .streamed(10 << 10), contentType: "image/jpeg")
                }
                guard case .unavailable(let failure) = error, failure.status == 500 else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            let targets = server.received.map { "\($0.line.prefix { $0 != " " }) \($0.target)" }
            #expect(
                targets == [
                    "POST /photos/a?uploads=", "PUT /photos/a?partNumber=1&uploadId=u%2B1",
                    "PUT /photos/a?partNumber=1&uploadId=u%2B1", "PUT /photos/a?partNumber=2&uploadId=u%2B1",
                    "PUT /photos/a?partNumber=2&uploadId=u%2B1", "PUT /photos/a?partNumber=2&uploadId=u%2B1",
                    "DELETE /photos/a?uploadId=u%2B1",
                ]
            )
        }
    }

    @Test("Parts of which the store made other bytes are found out when the object is read back")
    func otherBytes() async throws {
        let wrong = ScriptedServer.Reply.send(.answer("200 OK", ["ETag": "\"0123456789abcdef0123456789abcdef\""]))
        let replies: [ScriptedServer.Reply] = [
            .send(Self.created), wrong, .send(.stored),
            // The whole has the tag that its parts give, but not the one to expect; it is read back, and is not the same.
            .send(Self.completed("0123")), .send(.answer("200 OK", body: "other bytes")),
        ]
        try await ScriptedServer.with(replies) { server in
            try await withS3Client(endpoint: server.endpoint, uploads: Self.oneByOne) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: .streamed(10 << 10), contentType: "image/jpeg")
                }
                guard case .unavailable(let failure) = error, failure.cause as? S3NoAnswer == .otherBytes else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            // There is no upload left to abort: the object is there, and the caller's to delete.
            #expect(
                server.received.map(\.target) == [
                    "/photos/a?uploads=", "/photos/a?partNumber=1&uploadId=u%2B1",
                    "/photos/a?partNumber=2&uploadId=u%2B1", "/photos/a?uploadId=u%2B1", "/photos/a",
                ]
            )
        }
    }

    @Test(
        "An upload whose end fails is aborted",
        arguments: ["403 Forbidden", "500 Internal Server Error"]
    )
    func failingEnd(status: String) async throws {
        let isPassing = status.hasPrefix("5")
        let failing = [ScriptedServer.Reply](repeating: .send(.failure(status, code: "No")), count: isPassing ? 3 : 1)
        let replies =
            [.send(Self.created), .send(.stored), .send(.stored)] + failing + [.send(.answer("204 No Content"))]
        try await ScriptedServer.with(replies) { server in
            try await withS3Client(endpoint: server.endpoint, uploads: Self.oneByOne) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: .streamed(10 << 10), contentType: "image/jpeg")
                }
                #expect(error != nil)
            }
            #expect(server.received.count == replies.count)
            #expect(server.received.last?.line == "DELETE /photos/a?uploadId=u%2B1 HTTP/1.1")
        }
    }

    @Test("A cancelled upload is aborted")
    func cancelled() async throws {
        try await ScriptedServer.with([.send(Self.created), .hang, .send(.answer("204 No Content"))]) { server in
            try await withS3Client(endpoint: server.endpoint, uploads: Self.oneByOne) { client in
                let put = Task { () async -> S3Error? in
                    await failure { () async throws(S3Error) in
                        try await client.put(key: "a", body: .streamed(10 << 10), contentType: "image/jpeg")
                    }
                }
                try await poll("the first part is under way") { server.received.count == 2 }
                put.cancel()
                guard case .cancelled = await put.value else {
                    Issue.record("not cancelled")
                    return
                }
            }
            #expect(server.received.last?.line == "DELETE /photos/a?uploadId=u%2B1 HTTP/1.1")
        }
    }

    @Test(
        "Completing that is answered 200 with an error in it is tried again, and may have succeeded before",
        arguments: [
            ScriptedServer.Reply.send(.failure("404 Not Found", code: "NoSuchUpload")),
            .sendAndClose("HTTP/1.1 404 Not Found\r\nContent-Length: 90\r\n\r\n<Error><Co"),
        ]
    )
    func completion(unknown: ScriptedServer.Reply) async throws {
        let tag = EntityTag.ofParts(
            md5Hex: try await Self.oneByOne.parts(length: 10 << 10).mapAsync { range in
                try await S3Body.streamed(10 << 10).part(range).md5Hex
            }
        )
        let error = String.answer(
            "200 OK",
            body: "<?xml version=\"1.0\"?>\n  <Error><Code>InternalError</Code></Error>"
        )
        let replies: [ScriptedServer.Reply] = [
            .send(Self.created), .send(.stored), .send(.stored), .send(error),
            unknown,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 10240\r\nETag: \"\(tag)\"\r\n\r\n"),
        ]
        try await ScriptedServer.with(replies) { server in
            try await withS3Client(endpoint: server.endpoint, uploads: Self.oneByOne) { client in
                try await client.put(key: "a", body: .streamed(10 << 10), contentType: "image/jpeg")
            }
            #expect(
                server.received.map { $0.line.prefix(5) } == ["POST ", "PUT /", "PUT /", "POST ", "POST ", "HEAD "]
            )
            let document = try DocumentElement.read(server.received[3].body, root: "CompleteMultipartUpload")
            #expect(document.all("Part").map { $0["PartNumber"] } == ["1", "2"])
        }
    }

    @Test("A store that completes without telling the tag is asked for it, and the object is not read back")
    func completedWithoutTag() async throws {
        let tag = EntityTag.ofParts(
            md5Hex: try await Self.oneByOne.parts(length: 10 << 10).mapAsync { range in
                try await S3Body.streamed(10 << 10).part(range).md5Hex
            }
        )
        // As Ceph 16.2 answers.
        let done = "<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>"
        let replies: [ScriptedServer.Reply] = [
            .send(Self.created), .send(.stored), .send(.stored), .send(.answer("200 OK", body: done)),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 10240\r\nETag: \"\(tag)\"\r\nx-amz-version-id: v1\r\n\r\n"),
        ]
        try await ScriptedServer.with(replies) { server in
            try await withS3Client(endpoint: server.endpoint, uploads: Self.oneByOne) { client in
                let version = try await client.put(key: "a", body: .streamed(10 << 10), contentType: "image/jpeg")
                #expect(version == "v1")
            }
            #expect(server.received.last?.line.hasPrefix("HEAD ") == true && server.received.count == 5)
        }
    }

    private static let oneByOne: S3UploadPolicy = {
        var policy = S3UploadPolicy()
        policy.maxSinglePutBytes = 5 << 10
        policy.partBytes = 5 << 10
        policy.partsInFlight = 1
        return policy
    }()

    private static let created = String.answer(
        "200 OK",
        body: "<InitiateMultipartUploadResult><UploadId>u+1</UploadId></InitiateMultipartUploadResult>"
    )

    private static func completed(_ tag: String) -> String {
        .answer(
            "200 OK",
            body: "<CompleteMultipartUploadResult><ETag>&quot;\(tag)&quot;</ETag></CompleteMultipartUploadResult>"
        )
    }
}

extension Array {
    fileprivate func mapAsync<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
