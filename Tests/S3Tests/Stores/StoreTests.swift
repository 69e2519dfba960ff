import Foundation
import NIOCore
import NIOHTTP1
import S3TestSupport
import ServerProcesses
import Testing

@testable import S3

/// All calls, against real servers that check signatures.
@Suite("Stores", .timeLimit(.minutes(10)))
struct StoreTests {
    @Test(
        "An object is put, which creates the bucket, is read whole and in parts, and is deleted",
        arguments: TestStore.allCases
    )
    func roundTrip(on store: TestStore) async throws {
        try await store.withBucket { client in
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
            for (range, text) in [(2..<5, "234"), (7..<10, "789")] {
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

    @Test("An empty object is an object", arguments: TestStore.allCases)
    func empty(on store: TestStore) async throws {
        try await store.withBucket { client in
            try await client.put(key: "empty", body: S3Body(""), contentType: "text/plain")
            #expect(try await client.head(key: "empty")?.contentLength == 0)
            #expect(try await client.get(key: "empty").bytes.collect().readableBytes == 0)
        }
    }

    @Test(
        "Twenty megabytes stream in, also when the bucket has to be made first, and stream out",
        arguments: TestStore.allCases
    )
    func large(on store: TestStore) async throws {
        let length = 20 * 1_024 * 1_024
        try await store.withBucket { client in
            let body = S3Body.streamed(length)
            try await client.put(key: "large", body: body, contentType: "image/jpeg")
            let object = try await client.get(key: "large")
            #expect(object.info.contentLength == length)
            #expect(S3Body(try await object.bytes.collect()).sha256Hex == body.sha256Hex)
        }
    }

    @Test(
        "A refusal that a large body runs over is found out, and the bucket made",
        arguments: TestStore.allCases,
        [1, 3, 20, 32]
    )
    func earlyRefusal(on store: TestStore, mebibytes: Int) async throws {
        try await store.withBucket { client in
            // From memory, so that the sockets are full when the server closes its side.
            let body = S3Body(ByteBuffer(repeating: 7, count: mebibytes << 20))
            try await client.put(key: "large", body: body, contentType: "image/jpeg")
            #expect(try await client.head(key: "large")?.contentLength == body.length)
        }
    }

    @Test("Many puts at once into a missing bucket all succeed", arguments: TestStore.allCases)
    func concurrentCreation(on store: TestStore) async throws {
        try await store.withBucket { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        try await client.put(key: "\(number)", body: S3Body("x"), contentType: "text/plain")
                    }
                }
                try await group.waitForAll()
            }
            let keys = try await client.list().entries.map(\.key)
            #expect(keys.sorted() == (0..<16).map { "\($0)" }.sorted())
        }
    }

    @Test(
        "More objects than fit a page are listed once each, with what the store says of them, and deleted together",
        arguments: TestStore.allCases
    )
    func pages(on store: TestStore) async throws {
        try await store.withBucket { client in
            let first = try await client.list()
            #expect(first.entries.isEmpty, "there is no bucket yet")
            try await client.put(key: "put", body: S3Body("hello"), contentType: "text/plain")
            let keys = (0..<1_020).map { "k\($0)" }
            let body = S3Body("x")
            try await withThrowingTaskGroup { group in
                for first in 0..<8 {
                    group.addTask {
                        for index in stride(from: first, to: keys.count, by: 8) {
                            try await client.put(key: keys[index], body: body, contentType: "text/plain")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let entries = try await client.allObjects()
            #expect(entries.map(\.key).sorted() == (keys + ["put"]).sorted())
            let put = try #require(entries.first { $0.key == "put" })
            #expect(put.length == 5)
            #expect(abs(put.modified.timeIntervalSinceNow) < 60)

            let failures = try await client.delete(keys: Array(keys.prefix(20)))
            #expect(failures.isEmpty)
            #expect(try await client.allObjects().count == 1_001)
            #expect(try await client.delete(keys: ["none", "never"]).isEmpty, "missing ones are success")
        }
    }

    @Test("Uploads that were not completed are listed and aborted", arguments: TestStore.allCases)
    func leftovers(on store: TestStore) async throws {
        try await store.withBucket { client in
            try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
            #expect(try await client.listUploads().entries.isEmpty)
            let request = S3Request(method: .POST, key: "left", query: [QueryItem("uploads")])
            let deadline = client.deadline(in: .seconds(60))
            _ = try await client.document(request, root: "InitiateMultipartUpload", by: deadline)
            let page = try await client.listUploads()
            let left = try #require(page.entries.first)
            #expect(page.entries.count == 1 && left.key == "left")
            #expect(try await client.abortUpload(key: left.key, uploadID: left.id))
            #expect(try await client.listUploads().entries.isEmpty)
            #expect(try await !client.abortUpload(key: left.key, uploadID: left.id), "nothing was there")
        }
    }

    @Test("A large object is put in parts and read whole", arguments: TestStore.allCases, [(5 << 20) + 1, 13 << 20])
    func inParts(on store: TestStore, length: Int) async throws {
        try await store.withBucket(uploads: PartsTests.small) { client in
            let body = S3Body.streamed(length)
            try await client.put(key: "large", body: body, contentType: "image/jpeg")
            let object = try await client.get(key: "large")
            #expect(object.info.contentLength == length)
            let bytes = try await object.bytes.collect()
            #expect(S3Body(bytes).sha256Hex == body.sha256Hex)
            let left = try await client.listUploads()
            #expect(left.entries.isEmpty)
        }
    }
}
