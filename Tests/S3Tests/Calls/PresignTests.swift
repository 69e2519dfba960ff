import Foundation
import NIOCore
import NIOHTTP1
import S3TestSupport
import Testing

@testable import S3

/// URLs for others.
@Suite(.timeLimit(.minutes(2)))
struct PresignTests {
    private static let date = Date(timeIntervalSince1970: 1_369_353_600)

    private static func presign(
        keysEnd: TimeInterval? = nil,
        expires: Int = 7_200,
        isHead: Bool = false,
        answering headers: AnswerHeaders = AnswerHeaders()
    ) async throws -> (url: String, end: Date) {
        let keys = try S3Credentials(
            accessKeyID: exampleKeys.id,
            secretAccessKey: exampleKeys.secret,
            sessionToken: keysEnd.map { _ in "token" },
            expiration: keysEnd.map { date + $0 }
        )
        return try await withS3Client(endpoint: "http://127.0.0.1:1", source: .fixed(keys), now: { date }) { client in
            try await client.presignedGet(key: "a", expires: expires, at: date, isHead: isHead, answering: headers)
        }
    }

    @Test(
        "A URL ends when its seconds are over, or with the temporary keys that signed it, whichever comes first",
        arguments: [(nil, 7_200), (600, 600), (7_199, 7_199), (7_201, 7_200), (36_000, 7_200)]
            as [(TimeInterval?, TimeInterval)]
    )
    func end(keysEnd: TimeInterval?, end: TimeInterval) async throws {
        let presigned = try await Self.presign(keysEnd: keysEnd)
        #expect(presigned.end == Self.date + end)
        #expect(presigned.url.contains("&X-Amz-Expires=7200&"))
        #expect(presigned.url.contains("&X-Amz-Security-Token=token&") == (keysEnd != nil))
    }

    @Test("The type and the label to answer with are in the URL, and signed")
    func answerHeaders() async throws {
        let headers = AnswerHeaders(contentType: "image/png", contentDisposition: "inline; filename=\"a b.png\"")
        let url = try await Self.presign(answering: headers).url
        #expect(url.contains("&response-content-type=image%2Fpng&"))
        #expect(url.contains("&response-content-disposition=inline%3B%20filename%3D%22a%20b.png%22&"))
        let bare = try await Self.presign().url
        #expect(!bare.contains("response-"))
        let (signature, other) = (try Self.signature(of: url), try Self.signature(of: bare))
        #expect(signature != other)
    }

    @Test("A URL for HEAD has another signature than one for GET")
    func head() async throws {
        let (get, head) = (try await Self.presign().url, try await Self.presign(isHead: true).url)
        let (signature, other) = (try Self.signature(of: get), try Self.signature(of: head))
        #expect(signature != other)
        #expect(get.replacing(signature, with: "") == head.replacing(other, with: ""))
    }

    private static func signature(of url: String) throws -> String {
        String(try #require(url.firstMatch(of: /&X-Amz-Signature=([0-9a-f]{64})$/)).1)
    }
}
