import ConnectionTestSupport
import Curl
import Foundation
import NIOCore
import NIOHTTP1

/// Sends requests from libcurl's thread, so that its work does not count as the service's.
enum MarkClient {
    /// Sends a request and collects the answer; of events, it takes only the first.
    static func send(
        _ method: String,
        _ url: String,
        headers: [(String, String)],
        body: Data? = nil
    ) async throws -> HTTPAnswer {
        var request = CurlRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        request.headers = HTTPHeaders(headers)
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        var deadlines = CurlDeadlines(end: .now + .seconds(60))
        (deadlines.connect, deadlines.silence) = (.seconds(60), .seconds(60))
        return try await client.perform(request, deadlines: deadlines) { response in
            let status = Int(response.status.code)
            if response.headers.first(name: "content-type") == "text/event-stream" {
                // They have no end. A client that stops reading ends the connection.
                for try await _ in response.body { break }
                return HTTPAnswer(status: status, headers: [:], body: Data())
            }
            let collected = try await response.body.collect(upTo: 64 << 20)
            return HTTPAnswer(status: status, headers: [:], body: Data(collected.readableBytesView))
        }
    }

    private static let client = CurlClient()
}
