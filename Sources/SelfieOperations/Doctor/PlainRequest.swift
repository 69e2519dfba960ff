import Curl
import FoundationEssentials
import NIOCore
import NIOHTTP1
import S3

/// A GET without keys and without headers of S3, as anybody can send it.
struct PlainRequest: Sendable {
    struct Answer: Sendable {
        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let body: ByteBuffer
        /// Our time before the request and after the answer.
        let sent: Date
        let received: Date

        var isSuccess: Bool { (200..<300).contains(status.code) }
        /// Whether the store lists the bucket's objects.
        var isList: Bool { isSuccess && String(buffer: body).contains("<ListBucketResult") }
        var error: S3Error { S3Error(status: status, headers: headers, body: body) }
    }

    let curl: CurlClient
    /// How long an answer may take.
    let limit: Duration
    let now: @Sendable () -> Date

    private static let maxBodyBytes = 1024 * 1024

    /// - Throws: `CurlFailure`.
    func get(_ url: String) async throws -> Answer {
        let sent = now()
        let answer = try await curl.answer(to: CurlRequest(url: url), within: limit, maxBytes: Self.maxBodyBytes)
        return Answer(
            status: answer.status,
            headers: answer.headers,
            body: answer.body,
            sent: sent,
            received: now()
        )
    }
}
