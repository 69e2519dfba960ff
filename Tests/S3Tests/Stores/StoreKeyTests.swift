import ConnectionTestSupport
import Curl
import Foundation
import NIOCore
import NIOHTTP1
import S3TestSupport
import ServerProcesses
import Testing

@testable import S3

/// Behaviour that depends on the store that checks the signature.
@Suite("Stores: keys and signatures", .timeLimit(.minutes(10)))
struct StoreKeyTests {
    /// Keys that both servers can hold: each of ASCII's special characters alone and between others, and the usual
    /// suspects.
    static let keys =
        " !\"#$%&'()*+,-.:;<=>?@[\\]^_`{|}~\u{1}\t\u{1F}\u{7F}".unicodeScalars.map { "special/a\($0)b" }
        + "!\"#$%&'()*+,-:;<=>?@[\\]^_`{|}~".map { "alone/\($0)" } + [
            "a+b @(1)=#~%?&.jpg", " begins and ends with a space ", "  ", "%2F%41", "%2f", "%", "%%", "%zz", "a%20b",
            "a b",
            "?X-Amz-Signature=0&a=b", "für ü/👍", "é", "e\u{301}", "\u{301}", "漢字", "𝒳", "👨‍👩‍👧", "\u{A0}", "\u{2028}",
            "\u{FEFF}a", "c/d.e/..f/g..", "...", ".hidden", "special/..a", "a..b", "photos",
            "deep/er/than/most/of/them",
            String(repeating: "ü", count: 127), String(repeating: "long/", count: 204) + "long",
        ]

    /// Keys that only one of them can hold.
    ///
    /// rclone's keys are paths of files, so it has no empty segment, no `.` or `..`, and none of over 255 bytes. moto
    /// splits paths by a regular expression whose dot does not match a line feed.
    static let keysOfOne: [TestStore: [String]] = [
        .rclone: ["line\nfeed", "\r\n"],
        .moto: [
            "a//b", "/a", "//", "///a///", "a/", ".", "..", "./a", "a/./b", "a/../b", "../../a", "a/.", "a/..",
            String(repeating: "k", count: 1_024),
        ],
    ]

    @Test(
        "Keys of every special character go in, come out and go away, also by presigned URL",
        arguments: TestStore.allCases
    )
    func specialKeys(on store: TestStore) async throws {
        let keys = Self.keys + (Self.keysOfOne[store] ?? [])
        try await store.withBucket { client in
            // All are in before the first is read: two that fell together would show.
            for key in keys {
                try await client.put(key: key, body: S3Body("of \(key)"), contentType: "text/plain")
            }
            for key in keys {
                let text = "of \(key)"
                #expect(try await client.head(key: key)?.contentLength == text.utf8.count, "\(key)")
                let bytes = try await client.get(key: key).bytes.collect()
                #expect(Array(bytes.readableBytesView) == Array(text.utf8), "\(key)")
                let url = try await client.presignedGet(key: key, expires: 600, at: .now).url
                #expect(try await Self.fetch(url) == Fetched(status: 200, text: text), "\(key)")
                if let server = try await store.shared as? RcloneServer {
                    let file = server.directory.appending(path: client.configuration.bucket).path + "/" + key
                    #expect(FileManager.default.fileExists(atPath: file), "\(key)")
                }
            }
            for key in keys {
                try await client.delete(key: key)
                let head = try await client.head(key: key)
                #expect(head == nil, "\(key)")
            }
        }
    }

    @Test(
        "A presigned URL works without headers, and not when anything of it is changed",
        arguments: TestStore.allCases
    )
    func presigned(on store: TestStore) async throws {
        try await store.withBucket { client in
            try await client.put(key: "mine", body: S3Body("my photo"), contentType: "text/plain")
            try await client.put(key: "other", body: S3Body("other"), contentType: "text/plain")
            let url = try await client.presignedGet(key: "mine", expires: 60, at: .now).url
            #expect(try await Self.fetch(url) == Fetched(status: 200, text: "my photo"))

            let last = url.last == "0" ? "1" : "0"
            for tampered in [
                url.replacing("/mine?", with: "/other?"), url.replacing("Expires=60", with: "Expires=61"),
                String(url.dropLast()) + last, String(url.dropLast()),
                url.replacing(/&X-Amz-Signature=.*/, with: ""), url.replacing(/\?.*/, with: ""),
                try await client.presignedGet(key: "mine", expires: 60, at: .now.addingTimeInterval(-120)).url,
            ] {
                let fetched = try await Self.fetch(tampered)
                #expect((400..<500).contains(fetched.status), "\(tampered)")
                #expect(!fetched.text.contains("my photo"))
            }
        }
    }

    @Test("A wrong secret is refused, and the error shows nothing of it", arguments: TestStore.allCases)
    func wrongSecret(on store: TestStore) async throws {
        try await store.withBucket { client in
            try await client.createBucket()
            let server = try await store.shared
            try await withS3Client(
                endpoint: server.endpoint,
                bucket: client.configuration.bucket,
                region: server.region,
                forcePathStyle: server.forcesPathStyle,
                keys: (server.accessKeyID, "wrong-secret-of-mine")
            ) { stranger in
                let error = await failure { () async throws(S3Error) in
                    try await stranger.put(key: "a", body: S3Body("x"), contentType: "text/plain")
                }
                guard case .refused(let failure) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(failure.status == 403)
                if store != .given { #expect(failure.code == "SignatureDoesNotMatch") }
                var printed = "\(failure)"
                dump(failure, to: &printed)
                #expect(!printed.contains("wrong-secret-of-mine"))
                #expect(!printed.contains("Credential="))
                let url = try await stranger.presignedGet(key: "a", expires: 60, at: .now).url
                #expect(try await Self.fetch(url).status == 403)
            }
            #expect(try await client.head(key: "a") == nil)
        }
    }

    @Test(
        "The store answers with the type and the label of the URL, and not when either is changed",
        arguments: TestStore.withAnswerHeaders
    )
    func answerHeaders(on store: TestStore) async throws {
        try await store.withBucket { client in
            try await client.put(key: "a", body: S3Body("x"), contentType: "application/octet-stream")
            let headers = AnswerHeaders(contentType: "image/png", contentDisposition: "inline; filename=\"b\"")
            let url = try await client.presignedGet(key: "a", expires: 600, at: .now, answering: headers).url
            let response = try await client.curl.answer(to: CurlRequest(url: url), within: .seconds(60))
            #expect(response.status == .ok)
            #expect(response.headers["content-type"] == ["image/png"])
            #expect(response.headers["content-disposition"] == ["inline; filename=\"b\""])
            let forged = url.replacing("image%2Fpng", with: "text%2Fhtml")
            #expect(forged != url)
            #expect(
                try await client.curl.answer(to: CurlRequest(url: forged), within: .seconds(60)).status == .forbidden
            )
        }
    }

    struct Fetched: Equatable {
        let status: UInt
        let text: String
    }

    /// As a browser would, without a header of ours.
    private static func fetch(_ url: String) async throws -> Fetched {
        let answer = try await CurlClient.shared.answer(to: CurlRequest(url: url), within: .seconds(60))
        return Fetched(status: answer.status.code, text: String(buffer: answer.body))
    }
}
