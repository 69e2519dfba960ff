import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import S3TestSupport
import ServerProcesses
import Testing

@testable import S3

/// What depends on who checks the signature, against servers of two makers.
@Suite(.timeLimit(.minutes(2)))
struct TwoServersTests {
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
    static let keysOfOne: [TestServer: [String]] = [
        .rclone: ["line\nfeed", "\r\n"],
        .moto: [
            "a//b", "/a", "//", "///a///", "a/", ".", "..", "./a", "a/./b", "a/../b", "../../a", "a/.", "a/..",
            String(repeating: "k", count: 1_024),
        ],
    ]

    @Test(
        "Keys of every special character go in, come out and go away, also by presigned URL",
        arguments: TestServer.allCases
    )
    func specialKeys(on server: TestServer) async throws {
        let keys = Self.keys + (Self.keysOfOne[server] ?? [])
        try await server.run { server, bucket in
            try await withS3Client(of: server, bucket: bucket) { client in
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
                    if let server = server as? RcloneServer {
                        let file = server.directory.appending(path: bucket).path + "/" + key
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
    }

    @Test(
        "A presigned URL works without headers, and not when anything of it is changed",
        arguments: TestServer.allCases
    )
    func presigned(on server: TestServer) async throws {
        try await server.run { server, bucket in
            try await withS3Client(of: server, bucket: bucket) { client in
                try await client.put(key: "mine", body: S3Body("mine"), contentType: "text/plain")
                try await client.put(key: "other", body: S3Body("other"), contentType: "text/plain")
                let url = try await client.presignedGet(key: "mine", expires: 60, at: .now).url
                #expect(try await Self.fetch(url) == Fetched(status: 200, text: "mine"))

                let last = url.last == "0" ? "1" : "0"
                for tampered in [
                    url.replacing("/mine?", with: "/other?"), url.replacing("Expires=60", with: "Expires=61"),
                    String(url.dropLast()) + last, String(url.dropLast()),
                    url.replacing(/&X-Amz-Signature=.*/, with: ""), url.replacing(/\?.*/, with: ""),
                    try await client.presignedGet(key: "mine", expires: 60, at: .now.addingTimeInterval(-120)).url,
                ] {
                    let fetched = try await Self.fetch(tampered)
                    #expect((400..<500).contains(fetched.status), "\(tampered)")
                    #expect(!fetched.text.contains("mine"))
                }
            }
        }
    }

    @Test("A wrong secret is refused, and the error shows nothing of it", arguments: TestServer.allCases)
    func wrongSecret(on server: TestServer) async throws {
        try await server.run { server, bucket in
            let keys = (server.accessKeyID, "wrong-secret-of-mine")
            try await withS3Client(of: server, bucket: bucket) { try await $0.createBucket() }
            try await withS3Client(endpoint: server.endpoint, bucket: bucket, keys: keys) { client in
                let error = await failure { () async throws(S3Error) in
                    try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
                }
                guard case .refused(let failure) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(failure.status == 403)
                #expect(failure.code == "SignatureDoesNotMatch")
                var printed = "\(failure)"
                dump(failure, to: &printed)
                #expect(!printed.contains("wrong-secret-of-mine"))
                #expect(!printed.contains("Credential="))
                let url = try await client.presignedGet(key: "a", expires: 60, at: .now).url
                #expect(try await Self.fetch(url).status == 403)
            }
            try await withS3Client(of: server, bucket: bucket) { client in
                let head = try await client.head(key: "a")
                #expect(head == nil)
            }
        }
    }

    struct Fetched: Equatable {
        let status: UInt
        let text: String
    }

    /// As a browser would, without a header of ours.
    private static func fetch(_ url: String) async throws -> Fetched {
        let response = try await HTTPClient.shared.execute(.init(url: url), timeout: .seconds(60))
        return Fetched(
            status: response.status.code,
            text: String(buffer: try await response.body.collect(upTo: 65_536))
        )
    }
}
