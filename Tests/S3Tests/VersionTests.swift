import ConnectionTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import S3TestSupport
import Testing

@testable import S3

/// Versions in stores that refuse some of the calls for them.
@Suite("Versions", .timeLimit(.minutes(2)))
struct VersionTests {
    private static let marker = String.answer("204 No Content", ["x-amz-delete-marker": "true"])
    static let denied = String.failure("403 Forbidden", code: "AccessDenied")

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
            if request.line.hasPrefix("DELETE /photos/a ") { return Self.marker }
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
            let deletions = server.received.dropFirst().map(\.line).filter { $0.hasPrefix("DELETE") }
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

    @Test(
        "Whether versions are kept is asked; a store that can't say teaches nothing, and one that is down is told of",
        arguments: [
            (
                .answer(
                    "200 OK",
                    body: "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>"
                ), true
            ),
            (.answer("200 OK", body: "<VersioningConfiguration/>"), false), (denied, false), (notThere, false),
            (.failure("404 Not Found", code: "NoSuchBucket"), false),
            // Ignores what it does not know.
            (.answer("200 OK", body: "<ListBucketResult/>"), false),
            (.failure("503 Slow Down", code: "SlowDown"), nil),
        ] as [(String, Bool?)]
    )
    func asked(answer: String, keeps: Bool?) async throws {
        try await ScriptedServer.with([ScriptedServer.Reply](repeating: .send(answer), count: 3)) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in try await client.learnVersioning() }
                #expect((error == nil) == (keeps != nil))
                #expect(client.keepsVersions == (keeps ?? false))
            }
            #expect(server.received.first?.target == "/photos?versioning=")
        }
    }
}
