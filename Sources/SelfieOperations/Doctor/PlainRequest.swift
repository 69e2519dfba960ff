import AsyncHTTPClient
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

    let httpClient: HTTPClient
    let limit: Duration
    let now: @Sendable () -> Date

    private static let maxBodyBytes = 1024 * 1024

    func get(_ url: String) async throws -> Answer {
        let (httpClient, now) = (httpClient, now)
        return try await withLimit(limit) {
            let sent = now()
            let response = try await httpClient.execute(HTTPClientRequest(url: url), deadline: .distantFuture)
            let received = now()
            return Answer(
                status: response.status,
                headers: response.headers,
                body: try await response.body.collect(upTo: Self.maxBodyBytes),
                sent: sent,
                received: received
            )
        }
    }
}
