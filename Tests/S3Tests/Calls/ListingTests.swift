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
    private static let noVersions = String.answer("200 OK", body: "<VersioningConfiguration/>")

    @Test("Of objects deleted together, each that is left is named with the reason")
    func partialDeletion() async throws {
        let result = """
            <DeleteResult><Error><Key>b</Key><Code>AccessDenied</Code><Message>No.</Message></Error>\
            <Error><Key>c</Key><Code>NoSuchKey</Code></Error></DeleteResult>
            """
        try await ScriptedServer.with([.send(Self.noVersions), .send(.answer("200 OK", body: result))]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let failures = try await client.delete(keys: ["a", "b", "c"])
                #expect(failures.mapValues(\.code) == ["b": "AccessDenied"])
            }
            let request = try #require(server.received.last)
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
        let unknown = ScriptedServer.Reply.send(.failure(status, code: "NotImplemented"))
        try await ScriptedServer.with([.send(Self.noVersions), unknown, gone, gone, gone]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let failures = try await client.delete(keys: ["a", "b", "c\n"])
                #expect(failures.isEmpty)
            }
            #expect(
                server.received.dropFirst().map(\.target)
                    == ["/photos?delete=", "/photos/a", "/photos/b", "/photos/c%0A"]
            )
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
                _ = try await client.allObjects()
            }
            #expect(server.received.last?.target.contains("continuation-token=a%2B%2F%3D&") == true)
        }
    }

    @Test("A fast store gets more keys with each call, a thousand at most")
    func most() async throws {
        let done = ScriptedServer.Reply.answer { request in
            request.line.hasPrefix("GET ") ? Self.noVersions : .answer("200 OK", body: "<DeleteResult/>")
        }
        try await ScriptedServer.with([ScriptedServer.Reply](repeating: done, count: 20)) { server in
            let keys = (0..<1_000).map { "\($0)" }
            try await withS3Client(endpoint: server.endpoint) { client in
                for _ in 0..<4 {
                    let failures = try await client.delete(keys: keys)
                    #expect(failures.isEmpty)
                }
            }
            let calls = try server.received.filter { $0.line.hasPrefix("POST") }.map { request in
                try DocumentElement.read(request.body, root: "Delete").all("Object").compactMap { $0["Key"] }
            }
            #expect(calls.map(\.count) == [100, 200, 400, 300, 800, 200, 1_000, 1_000])
            #expect(calls.flatMap(\.self) == keys + keys + keys + keys)
        }
    }

    @Test("A slow store gets fewer keys, and those that it was too slow for again")
    func slow() async throws {
        let time = ManualTime()
        let done = ScriptedServer.Reply.answer { request in
            if request.line.hasPrefix("GET ") { return Self.noVersions }
            time.move(to: time.elapsed + .milliseconds(2_700))
            return .answer("200 OK", body: "<DeleteResult/>")
        }
        try await ScriptedServer.with([done, done, done, done, done]) { server in
            try await withS3Client(endpoint: server.endpoint, clock: time) { client in
                let failures = try await client.delete(keys: (0..<250).map { "\($0)" })
                #expect(failures.isEmpty)
            }
            let counts = try server.received.dropFirst().map {
                try DocumentElement.read($0.body, root: "Delete").all("Object").count
            }
            #expect(counts == [100, 74, 54, 22])
        }
    }

    @Test("An error in the answer that names no object of the call is no success", arguments: ["", "<Key>z</Key>"])
    func unnamed(key: String) async throws {
        let result = "<DeleteResult><Error>\(key)<Code>InternalError</Code></Error></DeleteResult>"
        let replies = [Self.noVersions] + [String](repeating: .answer("200 OK", body: result), count: 3)
        try await ScriptedServer.with(replies.map { .send($0) }) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in _ = try await client.delete(keys: ["a", "b"]) }
                #expect(error != nil)
            }
        }
    }

    @Test("When a store fails between two calls of a deletion, the remaining keys are returned")
    func interrupted() async throws {
        let replies: [ScriptedServer.Reply] =
            [
                .send(Self.noVersions), .send(.answer("200 OK", body: "<DeleteResult/>")),
            ] + [ScriptedServer.Reply](repeating: .send(.failure("503 Slow Down", code: "SlowDown")), count: 6)
        try await ScriptedServer.with(replies) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let failures = try await client.delete(keys: (0..<250).map { "\($0)" })
                #expect(Set(failures.keys) == Set((100..<250).map { "\($0)" }))
                // Nothing was deleted before.
                let error = await failure { () async throws(S3Error) in
                    _ = try await client.deleteInBatches([ObjectDeletion(key: "a"), ObjectDeletion(key: "b")])
                }
                #expect(error?.isRetryable == true)
            }
        }
    }

    @Test("A store may be silent for as long as a list, or a deletion of many, may take", arguments: [true, false])
    func silence(isList: Bool) async throws {
        let time = ManualTime()
        var deadlines = S3Deadlines.patient
        (deadlines.silence, deadlines.giveUp, deadlines.list) = (.seconds(4), .milliseconds(4_400), .seconds(15))
        let versions = ["a", "b"].map { ObjectDeletion(key: $0, versionID: "v") }
        let root = isList ? "ListBucketResult" : "DeleteResult"
        let late = ScriptedServer.Reply.answer { _ in
            time.move(to: .seconds(14))
            return .answer("200 OK", body: "<\(root)/>")
        }
        try await ScriptedServer.with([late, .hang, .hang]) { server in
            try await withS3Client(endpoint: server.endpoint, deadlines: deadlines, clock: time) { client in
                let work = { () async throws(S3Error) in
                    if isList { _ = try await client.list() } else { _ = try await client.deleteInBatches(versions) }
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
}
