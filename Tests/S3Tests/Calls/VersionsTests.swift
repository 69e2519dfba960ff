import ConnectionTestSupport
import Foundation
import S3TestSupport
import Testing

@testable import S3

/// Versions in stores that refuse some of the calls for them.
@Suite("Versions", .timeLimit(.minutes(2)))
struct VersionsTests {
    private static let gone = String.answer("204 No Content")
    private static let hidden = String.answer("204 No Content", ["x-amz-delete-marker": "true"])
    private static let denied = String.failure("403 Forbidden", code: "AccessDenied")
    private static let unknownCall = String.failure("501 Not Implemented", code: "NotImplemented")
    private static let kept = versioning("<Status>Suspended</Status>")
    private static let notKept = versioning("")
    private static let missing = String.answer("404 Not Found")
    private static let current = String.answer("200 OK", ["x-amz-version-id": "v1"])
    private static let unversioned = String.answer("200 OK")

    private static func versioning(_ status: String) -> String {
        .answer("200 OK", body: "<VersioningConfiguration>\(status)</VersioningConfiguration>")
    }

    private static func list(_ versions: String...) -> String {
        let elements = versions.map { version in
            """
            <Version><Key>a</Key><VersionId>\(version)</VersionId><IsLatest>true</IsLatest>\
            <LastModified>2026-11-23T00:00:00.000Z</LastModified></Version>
            """
        }
        return .answer("200 OK", body: "<ListVersionsResult>\(elements.joined())</ListVersionsResult>")
    }

    /// Deletes an object of a store that answers so.
    ///
    /// - Returns: The error, and the requests after those that ask about versions.
    private static func delete(
        versionID: String?,
        _ replies: [String]
    ) async throws -> (error: S3Error?, requests: [String]) {
        try await ScriptedServer.with(replies.map { .send($0) }) { server in
            let error = try await withS3Client(endpoint: server.endpoint) { client in
                await failure { () async throws(S3Error) in try await client.delete(key: "a", versionID: versionID) }
            }
            let requests = server.received.map { String($0.line.dropLast(" HTTP/1.1".count)) }
            #expect(requests.count == replies.count)
            return (error, requests.filter { !$0.hasPrefix("GET ") })
        }
    }

    @Test(
        "Where versions can't be listed, the known one is deleted if nothing is behind it",
        arguments: [missing, String.answer("403 Forbidden")]
    )
    func onlyKnown(afterwards: String) async throws {
        let replies = [Self.denied, Self.denied, Self.current, Self.gone, afterwards]
        let (error, requests) = try await Self.delete(versionID: "v1", replies)
        #expect(error == nil)
        #expect(requests == ["HEAD /photos/a", "DELETE /photos/a?versionId=v1", "HEAD /photos/a"])
    }

    @Test("If another is behind it, that is hidden, and the deletion fails, and fails again")
    func anotherVersion() async throws {
        let replies = [Self.kept, Self.denied, Self.current, Self.gone, Self.current, Self.hidden]
        let (error, requests) = try await Self.delete(versionID: "v1", replies)
        #expect(error?.isDenial == true)
        #expect(
            requests == ["HEAD /photos/a", "DELETE /photos/a?versionId=v1", "HEAD /photos/a", "DELETE /photos/a"]
        )
        // What another process hid, or this one at its first try.
        let again = try await Self.delete(versionID: "v1", [Self.kept, Self.denied, Self.missing, Self.gone])
        #expect(again.error?.isDenial == true)
        #expect(again.requests == ["HEAD /photos/a", "DELETE /photos/a?versionId=v1"])
    }

    @Test(
        "An unknown version that can't be found fails the deletion, and is hidden once only",
        arguments: [true, false]
    )
    func unknown(isHidden: Bool) async throws {
        // One that was stored before versions were kept has none itself.
        let replies = [Self.kept, Self.denied] + (isHidden ? [Self.missing] : [Self.unversioned, Self.hidden])
        let (error, requests) = try await Self.delete(versionID: nil, replies)
        #expect(error?.isDenial == true)
        #expect(requests == ["HEAD /photos/a"] + (isHidden ? [] : ["DELETE /photos/a"]))
    }

    @Test(
        "An id from another bucket does no harm where the bucket keeps no versions",
        arguments: [
            [notKept, gone],
            // The keys may not ask, and the object has no version.
            [denied, denied, unversioned, gone], [unknownCall, denied, unversioned, gone],
            // Cloudflare R2 names versions, and keeps none.
            [unknownCall, unknownCall, gone],
            // Stores that ignore what they do not know. The list of versions is tried three times.
            [String](repeating: .answer("200 OK", body: "<ListBucketResult/>"), count: 4) + [gone],
        ]
    )
    func copiedObject(replies: [String]) async throws {
        let (error, requests) = try await Self.delete(versionID: "v0", replies)
        #expect(error == nil)
        #expect(requests.last == "DELETE /photos/a")
    }

    @Test("Without an id, a deletion that leaves a marker shows that there are versions; the bucket is asked once")
    func marker() async throws {
        let deleted = String.answer("200 OK", body: "<DeleteResult/>")
        let replies = [Self.unknownCall, Self.hidden, Self.list("m", "v2", "v1"), deleted, Self.gone]
        let (error, requests) = try await Self.delete(versionID: nil, replies)
        #expect(error == nil)
        #expect(requests == ["DELETE /photos/a", "POST /photos?delete=", "DELETE /photos/a?versionId=m"])
    }

    @Test("Versions go from the oldest on, and what hides them last, so that an interruption brings none back")
    func order() async throws {
        let done = String.answer("200 OK", body: "<DeleteResult/>")
        let replies: [ScriptedServer.Reply] = [Self.kept, Self.list("m", "v2", "v1"), done, Self.gone].map { .send($0) }
        try await ScriptedServer.with(replies) { server in
            try await withS3Client(endpoint: server.endpoint) { try await $0.delete(key: "a") }
            let objects = try DocumentElement.read(server.received[2].body, root: "Delete").all("Object")
            #expect(objects.map { $0["VersionId"] } == ["v1", "v2"])
            #expect(server.received.last?.target == "/photos/a?versionId=m")
        }
    }

    @Test("A version that may not be deleted fails the deletion, and the object is hidden, whatever the code says")
    func locked() async throws {
        let result = "<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code></Error></DeleteResult>"
        let many = [Self.kept, Self.list("v3", "v2", "v1"), .answer("200 OK", body: result), Self.hidden]
        let (error, requests) = try await Self.delete(versionID: nil, many)
        #expect(error != nil && requests == ["POST /photos?delete=", "DELETE /photos/a"])
        let one = try await Self.delete(versionID: nil, [Self.kept, Self.list("v1"), Self.denied, Self.hidden])
        #expect(one.error?.isDenial == true)
        #expect(one.requests == ["DELETE /photos/a?versionId=v1", "DELETE /photos/a"])
    }

    @Test(
        "Inconclusive lists of versions are not a success: odd ones, or empty ones of an existing object",
        arguments: [
            [
                kept, .answer("200 OK", body: "<html/>"), .answer("200 OK", body: "<html/>"),
                .answer("200 OK", body: "<html/>"),
            ],
            [kept, .failure("400 Bad Request", code: "InvalidRequest")], [kept, missing],
            [kept, unknownCall, hidden], [denied, denied, unversioned, hidden],
            [kept, list(), gone, current, hidden], [notKept, missing],
        ]
    )
    func noProof(replies: [String]) async throws {
        let (error, _) = try await Self.delete(versionID: "v1", replies)
        #expect(error != nil)
    }

    @Test("A list without the object's versions is proof when the object is not there, either")
    func nothingThere() async throws {
        let (error, requests) = try await Self.delete(
            versionID: "v1",
            [Self.kept, Self.list(), Self.gone, Self.missing]
        )
        #expect(error == nil && requests == ["DELETE /photos/a?versionId=v1", "HEAD /photos/a"])
    }

    @Test(
        "A store that is down, a bucket that is away and wrong keys fail the deletion, and nothing is taken for deleted",
        arguments: [
            (String.failure("503 Slow Down", code: "SlowDown"), 3),
            (.failure("404 Not Found", code: "NoSuchBucket"), 1),
            (.failure("403 Forbidden", code: "SignatureDoesNotMatch"), 1),
        ],
        [0, 1]
    )
    func outage(answer: (String, Int), step: Int) async throws {
        let before = [String](repeating: Self.kept, count: step)
        let (error, requests) = try await Self.delete(
            versionID: "v1",
            before + [String](repeating: answer.0, count: answer.1)
        )
        #expect(error != nil && requests.isEmpty)
    }

    /// A bucket with versions in which the objects `a` to `c` have one each.
    private static func store(deleting: @escaping @Sendable (String) -> String) -> [ScriptedServer.Reply] {
        let reply = ScriptedServer.Reply.answer { request in
            if request.target.contains("versioning=") { return kept }
            guard request.line.hasPrefix("GET ") else { return deleting(request.target) }
            let key = ["a", "b", "c"].first { request.target.contains("prefix=\($0)&") } ?? ""
            return list("v").replacing("<Key>a</Key>", with: "<Key>\(key)</Key>")
        }
        return [ScriptedServer.Reply](repeating: reply, count: 40)
    }

    @Test(
        "Of many, those that can't be deleted are named with the reason, and do not keep the others",
        arguments: [denied, String.failure("500 Internal Server Error", code: "InternalError")]
    )
    func some(refusal: String) async throws {
        let store = Self.store { $0.hasPrefix("/photos/b") ? refusal : Self.gone }
        try await ScriptedServer.with(store) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let failures = try await client.delete(keys: ["a", "b", "c"])
                #expect(Array(failures.keys) == ["b"])
            }
            let deletions = Set(server.received.map(\.target).filter { $0.contains("versionId=v") })
            #expect(deletions == ["/photos/a?versionId=v", "/photos/b?versionId=v", "/photos/c?versionId=v"])
        }
    }

    @Test("If the store fails at all of them, it is down")
    func all() async throws {
        let store = Self.store { _ in .failure("500 Internal Server Error", code: "InternalError") }
        try await ScriptedServer.with(store) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in _ = try await client.delete(keys: ["a", "b"]) }
                #expect(error?.isRetryable == true)
            }
        }
    }

    @Test("Before many are deleted the bucket is asked each time, since versioning may have been switched on")
    func switchedOn() async throws {
        let done = String.answer("200 OK", body: "<DeleteResult/>")
        let reply = ScriptedServer.Reply.answer { request in
            if request.target.contains("versions=") { return Self.list() }
            return request.line.hasPrefix("HEAD ") ? Self.missing : done
        }
        let replies: [ScriptedServer.Reply] = [
            .send(Self.notKept), reply, .send(Self.notKept), reply, .send(Self.kept), reply, reply, reply, reply,
        ]
        try await ScriptedServer.with(replies) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                for round in 0..<3 {
                    let failures = try await client.delete(keys: ["a", "b"])
                    #expect(failures.isEmpty)
                    #expect(client.keepsVersions == (round == 2))
                }
            }
            #expect(server.received.count == replies.count)
        }
    }

    @Test("If the bucket can't be asked for versioning, each object is deleted by a call of its own")
    func unaskable() async throws {
        let store = ScriptedServer.Reply.answer { request in
            if request.target.contains("versioning=") { return Self.denied }
            if request.target.contains("versions=") { return Self.list() }
            if request.line.hasPrefix("HEAD ") { return Self.missing }
            return request.target.hasPrefix("/photos/a") ? Self.hidden : Self.gone
        }
        try await ScriptedServer.with([ScriptedServer.Reply](repeating: store, count: 20)) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let failures = try await client.delete(keys: ["a", "b"])
                #expect(failures.isEmpty && client.keepsVersions)
            }
            #expect(!server.received.contains { $0.line.hasPrefix("POST ") })
            #expect(server.received.contains { $0.target.contains("versions=") && $0.target.contains("prefix=a&") })
        }
    }

    @Test("Versions are listed page by page, and a page that is no list is none")
    func pages() async throws {
        let first = """
            <ListVersionsResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>\
            <NextKeyMarker>a%2Bb</NextKeyMarker><NextVersionIdMarker>v1</NextVersionIdMarker>\
            <Version><Key>a%2Bb</Key><VersionId>v1</VersionId><IsLatest>true</IsLatest>\
            <LastModified>2026-11-23T00:00:00.000Z</LastModified></Version></ListVersionsResult>
            """
        let second = """
            <ListVersionsResult><IsTruncated>true</IsTruncated><NextKeyMarker>c</NextKeyMarker>\
            <DeleteMarker><Key>c</Key><VersionId>m</VersionId><IsLatest>true</IsLatest>\
            <LastModified>2026-11-23T00:00:01.000Z</LastModified></DeleteMarker></ListVersionsResult>
            """
        let noID = "<ListVersionsResult><Version><Key>a</Key></Version></ListVersionsResult>"
        try await ScriptedServer.with([first, second, noID].map { .send(.answer("200 OK", body: $0)) }) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let page = try await client.listVersions()
                #expect(page.entries.map(\.key) == ["a+b"] && page.entries.first?.isCurrent == true)
                let next = try await client.listVersions(from: page.next)
                #expect(next.entries.map(\.versionID) == ["m"] && next.entries.first?.isCurrent == false)
                let error = await failure { () async throws(S3Error) in
                    _ = try await client.listVersions(from: next.next)
                }
                guard case .unavailable(let failure) = error else {
                    Issue.record("no failure")
                    return
                }
                #expect(failure.cause as? S3NoAnswer == .malformed)
            }
            let targets = server.received.map(\.target)
            #expect(targets[1].contains("key-marker=a%2Bb&") && targets[1].contains("version-id-marker=v1"))
            // AWS refuses an empty marker.
            #expect(targets[2].contains("key-marker=c&") && !targets[2].contains("version-id-marker"))
        }
    }
}
