import ConnectionTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import S3TestSupport
import ServerProcesses
import TestSupport
import Testing

@testable import S3

/// Lists, and deletions of many at once.
@Suite(.timeLimit(.minutes(2)))
struct ListingTests {
    @Test("More objects than fit a page are listed once each, with what the store says of them, and deleted together")
    func pages() async throws {
        try await withS3Bucket { client, _ in
            let first = try await client.list()
            #expect(first.entries.isEmpty, "there is no bucket yet")
            try await client.put(key: "put", body: S3Body("hello"), contentType: "text/plain")
            let keys = (0..<1_205).map { "k\($0)" }
            let body = S3Body("x")
            for key in keys { try await client.put(key: key, body: body, contentType: "text/plain") }
            let entries = try await Self.all(client)
            #expect(entries.map(\.key).sorted() == (keys + ["put"]).sorted())
            let put = try #require(entries.first { $0.key == "put" })
            #expect(put.length == 5)
            #expect(put.tag == S3Body("hello").md5Hex)
            #expect(abs(put.lastModified.timeIntervalSinceNow) < 60)

            let failures = try await client.delete(keys: Array(keys.prefix(20)))
            #expect(failures.isEmpty)
            #expect(try await Self.all(client).count == 1_186)
            #expect(try await client.delete(keys: ["none", "never"]).isEmpty, "missing ones are success")
        }
    }

    @Test("Of objects deleted together, each that is left is named with the reason")
    func partialDeletion() async throws {
        let result = """
            <DeleteResult><Error><Key>b</Key><Code>AccessDenied</Code><Message>No.</Message></Error>\
            <Error><Key>c</Key><Code>NoSuchKey</Code></Error></DeleteResult>
            """
        try await ScriptedServer.with([.send(.answer("200 OK", body: result))]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let failures = try await client.delete(keys: ["a", "b", "c"])
                #expect(failures.mapValues(\.code) == ["b": "AccessDenied"])
            }
            let request = try #require(server.received.first)
            #expect(request.target == "/photos?delete=")
            #expect(request.headers["content-md5"] == S3Body(request.body).md5Base64)
            let document = try DocumentElement.read(request.body, root: "Delete")
            #expect(document.all("Object").map { $0["Key"] } == ["a", "b", "c"])
        }
    }

    @Test(
        "A store that can't delete together, and keys that XML can't hold, are dealt with one by one",
        arguments: ["405 Method Not Allowed", "501 Not Implemented"]
    )
    func oneByOne(status: String) async throws {
        let gone = ScriptedServer.Reply.send(.answer("204 No Content"))
        try await ScriptedServer.with([.send(.failure(status, code: "NotImplemented")), gone, gone, gone]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let failures = try await client.delete(keys: ["a", "b", "c\n"])
                #expect(failures.isEmpty)
            }
            #expect(server.received.dropFirst().map(\.target) == ["/photos/a", "/photos/b", "/photos/c%0A"])
        }
    }

    @Test(
        "Only a bucket that is missing is a list without objects: at an address without a store nothing is known",
        arguments: [("NoSuchBucket", true), ("NoSuchKey", false), ("", false)]
    )
    func missing(code: String, isEmpty: Bool) async throws {
        let answer = code.isEmpty ? String.answer("404 Not Found") : .failure("404 Not Found", code: code)
        try await ScriptedServer.with([.send(answer)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    let page = try await client.list()
                    #expect(page.entries.isEmpty && page.next == nil)
                }
                #expect((error == nil) == isEmpty)
            }
        }
    }

    @Test("The next page is asked for by the token of the one before, encoded once")
    func continuation() async throws {
        let cut = """
            <ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a+/=</NextContinuationToken>\
            </ListBucketResult>
            """
        let end = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
        try await ScriptedServer.with([.send(.answer("200 OK", body: cut)), .send(.answer("200 OK", body: end))]) {
            server in
            try await withS3Client(endpoint: server.endpoint) { client in
                _ = try await Self.all(client)
            }
            #expect(server.received.last?.target.contains("continuation-token=a%2B%2F%3D&") == true)
        }
    }

    @Test("Uploads that were not completed are listed and aborted")
    func leftovers() async throws {
        try await withS3Bucket { client, _ in
            try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
            #expect(try await client.listUploads().entries.isEmpty)
            let request = S3Request(method: .POST, key: "left", query: [QueryItem("uploads")])
            let call = client.call(within: .seconds(60))
            _ = try await client.document(request, root: "InitiateMultipartUpload", during: call)
            let page = try await client.listUploads()
            let left = try #require(page.entries.first)
            #expect(page.entries.count == 1 && left.key == "left")
            #expect(try await client.abortUpload(key: left.key, uploadID: left.uploadID))
            #expect(try await client.listUploads().entries.isEmpty)
            #expect(try await !client.abortUpload(key: left.key, uploadID: left.uploadID), "nothing was there")
        }
    }

    @Test("A fast store gets more keys with each call, a thousand at most")
    func most() async throws {
        let done = ScriptedServer.Reply.send(.answer("200 OK", body: "<DeleteResult/>"))
        try await ScriptedServer.with([ScriptedServer.Reply](repeating: done, count: 12)) { server in
            let keys = (0..<1_000).map { "\($0)" }
            try await withS3Client(endpoint: server.endpoint) { client in
                for _ in 0..<3 {
                    let failures = try await client.delete(keys: keys)
                    #expect(failures.isEmpty)
                }
            }
            let calls = try server.received.map { request in
                try DocumentElement.read(request.body, root: "Delete").all("Object").compactMap { $0["Key"] }
            }
            #expect(calls.map(\.count) == [100, 200, 400, 300, 800, 200, 1_000])
            #expect(calls.flatMap(\.self) == keys + keys + keys)
        }
    }

    @Test("A slow store gets fewer keys, and those that it was too slow for again")
    func slow() async throws {
        let time = ManualTime()
        let done = ScriptedServer.Reply.answer { _ in
            time.move(to: time.elapsed + .milliseconds(2_700))
            return .answer("200 OK", body: "<DeleteResult/>")
        }
        try await ScriptedServer.with([done, done, done, done]) { server in
            try await withS3Client(endpoint: server.endpoint, time: S3Time(time)) { client in
                let failures = try await client.delete(keys: (0..<250).map { "\($0)" })
                #expect(failures.isEmpty)
            }
            let counts = try server.received.map { try DocumentElement.read($0.body, root: "Delete").children.count }
            #expect(counts == [100, 74, 54, 22])
        }
    }

    @Test("A store may be silent for as long as a list, or a deletion of many, may take", arguments: [true, false])
    func silence(isList: Bool) async throws {
        let time = ManualTime()
        var deadlines = S3Deadlines.patient
        (deadlines.silence, deadlines.giveUp, deadlines.list) = (.seconds(4), .milliseconds(4_400), .seconds(15))
        let root = isList ? "ListBucketResult" : "DeleteResult"
        let late = ScriptedServer.Reply.answer { _ in
            time.move(to: .seconds(14))
            return .answer("200 OK", body: "<\(root)/>")
        }
        try await ScriptedServer.with([late, .hang, .hang]) { server in
            try await withS3Client(endpoint: server.endpoint, deadlines: deadlines, time: S3Time(time)) { client in
                let work = { () async throws(S3Error) in
                    if isList { _ = try await client.list() } else { _ = try await client.delete(keys: ["a", "b"]) }
                }
                try await work()
                async let error = failure(of: work)
                try await poll("the second request came") { server.received.count == 2 }
                try await time.ring(.seconds(29))
                guard case .unavailable(let failure) = await error else {
                    Issue.record("no failure")
                    return
                }
                #expect(failure.cause as? S3NoAnswer == .overdue)
            }
        }
    }

    @Test("More keys than a call takes are refused before anything is sent")
    func limit() async throws {
        try await withS3Client(endpoint: "http://127.0.0.1:1") { client in
            let keys = (0..<1_001).map { "\($0)" }
            let error = await failure { () async throws(S3Error) in _ = try await client.delete(keys: keys) }
            guard case .invalidArgument(.keyCount) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    private static func all(_ client: S3Client) async throws(S3Error) -> [S3ObjectPage.Entry] {
        var entries: [S3ObjectPage.Entry] = []
        var next: String?
        repeat {
            let page = try await client.list(from: next)
            entries += page.entries
            next = page.next
        } while next != nil
        return entries
    }
}
