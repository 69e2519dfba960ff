import ConnectionTestSupport
import Curl
import Foundation
import NIOCore
import NIOHTTP1
import S3TestSupport
import Testing

@testable import S3

/// That what goes over the wire is what was signed, byte for byte, and nothing that some store refuses.
@Suite(.timeLimit(.minutes(1)))
struct WireTests {
    /// Keys that URL libraries like to normalise, and their one right spelling.
    static let keys = [
        ("plain.jpg", "plain.jpg"),
        ("a b", "a%20b"),
        ("a+b", "a%2Bb"),
        ("@(1)=#~%?&!$'*,;:[]", "%40%281%29%3D%23~%25%3F%26%21%24%27%2A%2C%3B%3A%5B%5D"),
        ("für/ü", "f%C3%BCr/%C3%BC"),
        ("👍", "%F0%9F%91%8D"),
        ("%2F%41", "%252F%2541"),
        ("+%20", "%2B%2520"),
        ("?x=1#y", "%3Fx%3D1%23y"),
        ("é/e\u{301}", "%C3%A9/e%CC%81"),
        ("~._-", "~._-"),
        ("a//b", "a//b"),
        ("/a", "/a"),
        ("//", "//"),
        ("a/", "a/"),
        ("./a", "./a"),
        ("a/../b", "a/../b"),
        ("../../a", "../../a"),
        ("..", ".."),
        ("a/.", "a/."),
        ("\"<>\\^`{|}\u{0}\t\r\n\u{7F}", "%22%3C%3E%5C%5E%60%7B%7C%7D%00%09%0D%0A%7F"),
    ]

    @Test("A key goes out percent-encoded once and never normalised", arguments: keys)
    func target(key: String, encoded: String) async throws {
        try await ScriptedServer.with([.send(.answer("204 No Content")), .send(.stored)]) { server in
            let presigned = try await withS3Client(endpoint: server.endpoint) { client in
                try await client.deleteOne(ObjectDeletion(key: key))
                let url = try await client.presignedGet(key: key, expires: 60, at: Date(timeIntervalSince1970: 0)).url
                _ = try await client.curl.answer(to: CurlRequest(url: url), within: .seconds(60))
                return url
            }
            #expect(server.received.first?.line == "DELETE /photos/\(encoded) HTTP/1.1")
            #expect(server.received.last.map { server.endpoint + $0.target } == presigned)
            #expect(presigned.hasPrefix("\(server.endpoint)/photos/\(encoded)?X-Amz-Algorithm="))
        }
    }

    @Test("The signature on the wire is one over the request on the wire", arguments: keys)
    func signature(key: String, encoded: String) async throws {
        try await ScriptedServer.with([.send(.stored)]) { server in
            let date = Date(timeIntervalSince1970: 1_369_353_600)
            try await withS3Client(endpoint: server.endpoint, now: { date }) { client in
                try await client.put(key: key, body: S3Body("hello"), contentType: "text/plain;  charset=utf-8")
            }
            let request = try #require(server.received.first)
            let names = ["content-type", "host", "x-amz-content-sha256", "x-amz-date"]
            let received = UnsignedRequest(
                method: "PUT",
                encodedPath: request.target,
                headers: HTTPHeaders(names.map { ($0, request.headers[$0] ?? "") }),
                payloadHash: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
            )
            let signed = try SignerVectorTests.signer().sign(received, at: date)
            #expect([request.headers["authorization"]] == signed.headers["Authorization"])
        }
    }

    @Test("A put sends its length and no header that some stores refuse")
    func putHeaders() async throws {
        try await ScriptedServer.with([.send(.stored)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                try await client.put(key: "a", body: .streamed(100_000), contentType: "image/jpeg")
            }
            let headers = try #require(server.received.first?.headers)
            #expect(
                headers.keys.sorted() == [
                    "accept-encoding", "authorization", "content-length", "content-type", "host",
                    "x-amz-content-sha256", "x-amz-date",
                ]
            )
            #expect(headers["content-length"] == "100000")
            #expect(headers["accept-encoding"] == "identity")
            #expect(headers["host"].map { "http://\($0)" } == server.endpoint)
        }
    }

    @Test("A redirect is not followed")
    func redirect() async throws {
        let reply = ScriptedServer.Reply.send(.answer("307 Temporary Redirect", ["Location": "/elsewhere"]))
        try await ScriptedServer.with([reply, .send(.failure("403 Forbidden", code: "AccessDenied")), reply]) {
            server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let error = await failure { () async throws(S3Error) in _ = try await client.head(key: "a") }
                guard case .refused(let failure) = error, failure.status == 307 else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            // In the middle it is asked where the bucket is.
            #expect(server.received.map(\.target).filter { !$0.contains("list-type") } == ["/photos/a", "/photos/a"])
        }
    }

    @Test("The head of an object is read, its date included")
    func head() async throws {
        let headers = [
            "Content-Type": "image/jpeg", "ETag": "\"abc\"", "Last-Modified": "Fri, 24 May 2013 00:00:00 GMT",
        ]
        let answer = String.answer(
            "206 Partial Content",
            headers.merging(["Content-Range": "bytes 0-4/9"]) { $1 },
            body: "hello"
        )
        try await ScriptedServer.with([.send(answer)]) { server in
            try await withS3Client(endpoint: server.endpoint) { client in
                let object = try await client.get(key: "a", range: 0..<5)
                #expect(object.info.contentLength == 5)
                #expect(object.info.contentType == "image/jpeg")
                #expect(object.info.etag == "\"abc\"")
                #expect(object.info.lastModified == Date(timeIntervalSince1970: 1_369_353_600))
                #expect(object.info.contentRange == "bytes 0-4/9")
                #expect(String(buffer: try await object.bytes.collect()) == "hello")
            }
            #expect(server.received.first?.headers["range"] == "bytes=0-4")
        }
    }

    @Test("Requests in a row use connections again, whatever they were answered")
    func keepAlive() async throws {
        // Long enough to come in several pieces: an answer that is not read to its end costs its connection.
        let body = String(repeating: " ", count: 60_000)
        let success = ScriptedServer.Reply.send(.answer("200 OK", ["ETag": "\"\(ScriptedServer.md5)\""], body: body))
        let error = ScriptedServer.Reply.send(.failure("404 Not Found", code: "NoSuchKey"))
        try await ScriptedServer.with([[ScriptedServer.Reply]](repeating: [success, error], count: 8).flatMap(\.self)) {
            server in
            try await withS3Client(endpoint: server.endpoint) { client in
                for _ in 0..<8 {
                    try await client.put(key: "a", body: S3Body("x"), contentType: "text/plain")
                    try await client.deleteOne(ObjectDeletion(key: "a"))
                }
            }
            // A connection may be given back a moment after the answer.
            #expect(server.received.count == 16 && Set(server.received.map(\.connection)).count < 8)
        }
    }
}
