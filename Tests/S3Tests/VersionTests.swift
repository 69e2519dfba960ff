import ConnectionTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import ProcessTestSupport
import S3TestSupport
import Testing

@testable import S3

/// Buckets that keep old versions of their objects.
@Suite("Versions", .timeLimit(.minutes(2)))
struct VersionTests {
    /// Runs a body with a bucket of its own that keeps versions, and with another client that knows nothing of it.
    private static func withBucket(
        _ body: (_ client: S3Client, _ stranger: S3Client) async throws -> Void
    ) async throws {
        let (server, bucket) = (try await MotoServer.shared, "versions-\(UUID().uuidString.lowercased())")
        try await withS3Client(of: server, bucket: bucket) { client in
            try await client.createBucket()
            try await client.keepVersions(true)
            try await withS3Client(of: server, bucket: bucket) { stranger in
                try await body(client, stranger)
            }
        }
    }

    private static func put(_ key: String, _ client: S3Client) async throws -> String? {
        try await client.put(key: key, body: S3Body("of \(key)"), contentType: "text/plain")
    }

    @Test("A put tells the version that it made, whole or in parts; without versions there is none")
    func putAnswer() async throws {
        try await Self.withBucket { client, _ in
            #expect(!client.keepsVersions)
            let first = try await Self.put("a", client)
            #expect(client.keepsVersions)
            let second = try await Self.put("a", client)
            let versions = try await client.allVersions()
            #expect(versions == [first, second].compactMap(\.self).map { "a \($0)" }.sorted())
            #expect(versions.count == 2)
        }
        try await withS3Bucket { client, _ in
            #expect(try await Self.put("a", client) == nil)
            try await client.delete(key: "a")
            #expect(!client.keepsVersions)
        }
        let server = try await MotoServer.shared
        try await withS3Client(of: server, bucket: "parts-\(UUID())".lowercased(), uploads: PartsTests.small) {
            client in
            try await client.createBucket()
            try await client.keepVersions(true)
            let version = try await client.put(key: "a", body: .streamed(6 << 20), contentType: "image/jpeg")
            let versions = try await client.allVersions()
            #expect(version != nil && versions == ["a \(version ?? "")"])
        }
    }

    /// How an object is deleted.
    enum Deletion: CaseIterable {
        case single, many, singleKnown, manyKnown
    }

    @Test(
        "A deletion leaves no version and no marker, whatever the client knew",
        arguments: Deletion.allCases,
        [true, false]
    )
    func deletion(how: Deletion, isStranger: Bool) async throws {
        try await Self.withBucket { writer, stranger in
            let client = isStranger ? stranger : writer
            // The first of two puts may be one whose answer was lost. The longer key is another object's.
            _ = try await Self.put("photo", writer)
            let version = try await Self.put("photo", writer)
            let others = [try await Self.put("photo2", writer), try await Self.put("phot", writer)]
            switch how {
            case .single: try await client.delete(key: "photo")
            case .singleKnown: try await client.delete(key: "photo", versionID: version)
            case .many, .manyKnown:
                let known = how == .manyKnown ? version : nil
                let failures = try await client.delete([
                    S3Deletion(key: "photo", versionID: known), S3Deletion(key: "missing", versionID: nil),
                ])
                #expect(failures.isEmpty)
            }
            let left = try await writer.allVersions()
            #expect(left == zip(["photo2", "phot"], others).map { "\($0) \($1 ?? "")" }.sorted())
            #expect(try await client.head(key: "photo") == nil)
            #expect(try await client.head(key: "photo2") != nil)
        }
    }

    @Test("What was hidden by a deletion of somebody else's goes, too, and what was stored before versions were kept")
    func hidden() async throws {
        let (server, bucket) = (try await MotoServer.shared, "versions-\(UUID().uuidString.lowercased())")
        try await withS3Client(of: server, bucket: bucket) { client in
            _ = try await Self.put("photo", client)
            _ = try await Self.put("other", client)
            try await client.keepVersions(true)
            _ = try await Self.put("photo", client)
            try await client.deleteOne(S3Deletion(key: "photo"))
            let before = try await client.allVersions()
            #expect(before.count == 4)
            try await withS3Client(of: server, bucket: bucket) { stranger in
                try await stranger.delete(key: "photo")
                let failures = try await stranger.delete(keys: ["other", "more"])
                #expect(failures.isEmpty)
            }
            let after = try await client.allVersions()
            #expect(after.isEmpty)
        }
    }

    private static let marker = String.answer("204 No Content", ["x-amz-delete-marker": "true"])
    private static let denied = String.failure("403 Forbidden", code: "AccessDenied")

    /// What a store answers that lets nobody list versions, and the requests that it got.
    private static func deleteUnlisted(
        versionID: String?,
        _ replies: [String],
        _ check: (S3Error?) -> Void
    ) async throws -> [String] {
        try await ScriptedServer.with(replies.map { .send($0) }) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.delete(key: "a", versionID: versionID)
                }
                check(error)
            }
            return server.received.map { request in
                String(request.line.prefix { $0 != " " }) + " " + request.target.replacing("max-keys=1000&", with: "")
            }
        }
    }

    private static let listing = "GET /photos?encoding-type=url&prefix=a&versions="

    @Test("Where versions can't be listed, the one that the put made is deleted", arguments: [denied, notThere])
    func onlyKnown(refusal: String) async throws {
        let replies = [refusal, .answer("204 No Content"), .answer("404 Not Found")]
        let requests = try await Self.deleteUnlisted(versionID: "v1", replies) { #expect($0 == nil) }
        #expect(requests == [Self.listing, "DELETE /photos/a?versionId=v1", "HEAD /photos/a"])
    }

    static let notThere = String.failure("501 Not Implemented", code: "NotImplemented")

    @Test("If it was not the only one, the rest is hidden, and the deletion fails")
    func anotherVersion() async throws {
        let replies = [Self.denied, .answer("204 No Content"), .answer("200 OK"), Self.marker]
        let requests = try await Self.deleteUnlisted(versionID: "v1", replies) { error in
            guard case .refused(let failure) = error else {
                Issue.record("no refusal")
                return
            }
            #expect(failure.code == "AccessDenied")
        }
        #expect(
            requests == [Self.listing, "DELETE /photos/a?versionId=v1", "HEAD /photos/a", "DELETE /photos/a"]
        )
    }

    @Test(
        "An unknown version that can't be found fails the deletion, and is hidden once only",
        arguments: [true, false]
    )
    func unknown(isHidden: Bool) async throws {
        let head = isHidden ? String.answer("404 Not Found") : .answer("200 OK")
        let replies = [Self.marker, Self.denied, head, Self.marker]
        let requests = try await Self.deleteUnlisted(versionID: nil, replies) { error in
            guard case .refused = error else {
                Issue.record("no refusal")
                return
            }
        }
        #expect(
            requests == ["DELETE /photos/a", Self.listing, "HEAD /photos/a"] + (isHidden ? [] : ["DELETE /photos/a"])
        )
    }

    @Test("A version's id from another bucket does no harm")
    func copiedObject() async throws {
        let invalid = String.failure("400 Bad Request", code: "InvalidArgument")
        let replies = [Self.notThere, invalid, .answer("200 OK"), .answer("204 No Content")]
        let requests = try await Self.deleteUnlisted(versionID: "v1", replies) { #expect($0 == nil) }
        #expect(requests.last == "DELETE /photos/a" && requests.count == 4)
    }

    @Test("A store that is not available fails the deletion, and nothing is taken for deleted")
    func outage() async throws {
        let broken = String.failure("503 Slow Down", code: "SlowDown")
        let requests = try await Self.deleteUnlisted(versionID: "v1", [broken, broken, broken]) { error in
            guard case .unavailable = error else {
                Issue.record("not unavailable")
                return
            }
        }
        #expect(requests == [Self.listing, Self.listing, Self.listing])
    }

    @Test("Of many, those whose versions can't be deleted are named with the reason")
    func someLocked() async throws {
        let list = { @Sendable (key: String) in
            """
            <ListVersionsResult><Version><Key>\(key)</Key><VersionId>v</VersionId><IsLatest>true</IsLatest>\
            <LastModified>2026-11-23T00:00:00.000Z</LastModified></Version></ListVersionsResult>
            """
        }
        let store = ScriptedServer.Reply.answer { request in
            if request.line.hasPrefix("POST") {
                let deleted = "<Deleted><Key>a</Key><DeleteMarker>true</DeleteMarker></Deleted>"
                return .answer("200 OK", body: "<DeleteResult>\(deleted)</DeleteResult>")
            }
            if request.line.hasPrefix("DELETE /photos/b") { return Self.denied }
            let key = request.target.contains("prefix=a&") ? "a" : "b"
            return request.line.hasPrefix("GET")
                ? .answer("200 OK", body: list(key)) : .answer("204 No Content")
        }
        try await ScriptedServer.with([ScriptedServer.Reply](repeating: store, count: 9)) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let failures = try await client.delete(keys: ["a", "b"])
                #expect(failures.mapValues(\.code) == ["b": "AccessDenied"])
            }
            let deletions = server.received.map(\.line).filter { $0.hasPrefix("DELETE") }
            #expect(
                deletions.sorted().map { $0.split(separator: " ")[1] } == [
                    "/photos/a?versionId=v", "/photos/b?versionId=v",
                ]
            )
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
            <ListVersionsResult><DeleteMarker><Key>c</Key><VersionId>m</VersionId><IsLatest>true</IsLatest>\
            <LastModified>2026-11-23T00:00:01.000Z</LastModified></DeleteMarker></ListVersionsResult>
            """
        let noID = "<ListVersionsResult><Version><Key>a</Key></Version></ListVersionsResult>"
        try await ScriptedServer.with([first, second, noID].map { .send(.answer("200 OK", body: $0)) }) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let page = try await client.listVersions()
                #expect(page.entries.map(\.key) == ["a+b"] && page.entries.first?.isCurrent == true)
                let next = try await client.listVersions(from: page.next)
                #expect(next.entries.map(\.versionID) == ["m"] && next.entries.first?.isCurrent == false)
                #expect(next.next == nil)
                let error = await failure { () async throws(S3Error) in _ = try await client.listVersions() }
                guard case .unavailable(let failure) = error else {
                    Issue.record("no failure")
                    return
                }
                #expect(failure.cause as? S3NoAnswer == .malformed)
            }
            #expect(server.received[1].target.contains("key-marker=a%2Bb&"))
            #expect(server.received[1].target.contains("version-id-marker=v1"))
        }
    }
}
