import Foundation
import NIOCore
import S3TestSupport
import ServerProcesses
import Testing

@testable import S3

/// Against a real server that checks signatures.
@Suite(.timeLimit(.minutes(2)))
struct RcloneTests {
    @Test("An object goes in, makes its bucket, comes out whole and in parts, and goes away")
    func roundTrip() async throws {
        try await withS3Bucket { client, _ in
            let missing = await failure { () async throws(S3Error) in try await client.prepare() }
            #expect(missing?.isMissingBucket == true)
            try await client.put(key: "a/b.jpg", body: S3Body("0123456789"), contentType: "image/jpeg")
            try await client.prepare()

            let info = try #require(try await client.head(key: "a/b.jpg"))
            #expect(info.contentLength == 10)
            #expect(info.contentType == "image/jpeg")
            #expect(abs(info.lastModified?.timeIntervalSinceNow ?? .infinity) < 60)
            #expect(info.etag != nil)

            let object = try await client.get(key: "a/b.jpg")
            #expect(object.info.contentLength == 10)
            #expect(String(buffer: try await object.bytes.collect()) == "0123456789")
            for (range, text) in [(S3ByteRange.bytes(2...4), "234"), (.from(7), "789"), (.last(2), "89")] {
                let part = try await client.get(key: "a/b.jpg", range: range)
                #expect(part.info.contentLength == text.count)
                #expect(part.info.contentRange?.hasSuffix("/10") == true)
                #expect(String(buffer: try await part.bytes.collect()) == text)
            }

            try await client.delete(key: "a/b.jpg")
            #expect(try await client.head(key: "a/b.jpg") == nil)
            try await client.delete(key: "a/b.jpg")
            let error = await failure { () async throws(S3Error) in _ = try await client.get(key: "a/b.jpg") }
            guard case .notFound(let failure) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.code == "NoSuchKey")
        }
    }

    @Test("An empty object is an object")
    func empty() async throws {
        try await withS3Bucket { client, _ in
            try await client.put(key: "empty", body: S3Body(""), contentType: "text/plain")
            #expect(try await client.head(key: "empty")?.contentLength == 0)
            #expect(try await client.get(key: "empty").bytes.collect().readableBytes == 0)
        }
    }

    @Test("Twenty megabytes stream in, also when the bucket has to be made first, and stream out")
    func large() async throws {
        let length = 20 * 1_024 * 1_024
        try await withS3Bucket { client, _ in
            let body = S3Body.streamed(length)
            try await client.put(key: "large", body: body, contentType: "image/jpeg")
            let object = try await client.get(key: "large")
            #expect(object.info.contentLength == length)
            #expect(S3Body(try await object.bytes.collect()).sha256Hex == body.sha256Hex)
        }
    }

    @Test("A refusal that a large body runs over is found out, and the bucket made", arguments: [1, 3, 20, 32])
    func earlyRefusal(mebibytes: Int) async throws {
        try await withS3Bucket { client, _ in
            // From memory, so that the sockets are full when the server closes its side.
            let body = S3Body(ByteBuffer(repeating: 7, count: mebibytes << 20))
            try await client.put(key: "large", body: body, contentType: "image/jpeg")
            #expect(try await client.head(key: "large")?.contentLength == body.length)
        }
    }

    @Test("Many puts at once into a missing bucket all succeed")
    func concurrentCreation() async throws {
        try await withS3Bucket { client, folder in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        try await client.put(key: "\(number)", body: S3Body("x"), contentType: "text/plain")
                    }
                }
                try await group.waitForAll()
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.sorted() == (0..<16).map { "\($0)" }.sorted())
        }
    }

    @Test("Arguments beyond their limits are refused before anything is sent")
    func limits() async throws {
        try await withS3Client(endpoint: "http://127.0.0.1:1") { client in
            let long = String(repeating: "ü", count: 512)
            await #expect(throws: Never.self) { () async throws in
                _ = try await client.presignedGet(key: long, expires: 604_800, at: .now)
            }
            await #expect(throws: Never.self) { () async throws in
                _ = try await client.presignedGet(key: "a", expires: 1, at: .now)
            }
            await #expect(throws: S3Error.self) { () async throws in
                _ = try await client.presignedGet(key: long + "a", expires: 1, at: .now)
            }
            await #expect(throws: S3Error.self) { () async throws in
                _ = try await client.presignedGet(key: "", expires: 1, at: .now)
            }
            await #expect(throws: S3Error.self) { () async throws in
                _ = try await client.presignedGet(key: "a", expires: 0, at: .now)
            }
            await #expect(throws: S3Error.self) { () async throws in
                _ = try await client.presignedGet(key: "a", expires: 604_801, at: .now)
            }
            for type in ["", "a\r\nx-amz-acl: public-read", "a\u{7F}"] {
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: S3Body("x"), contentType: type)
                }
                guard case .invalidArgument(.contentType) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
            for range in [S3ByteRange.bytes(-1...4), .from(-1), .last(0)] {
                let error = await failure { () async throws(S3Error) in _ = try await client.get(key: "a", range: range)
                }
                guard case .invalidArgument(.range) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }
    }
}
