import AsyncHTTPClient
import ConnectionTestSupport
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends requests from an event loop of its own, so that its work does not count as the service's.
enum MarkClient {
    /// Sends a request and collects the answer; of events, it takes only the first.
    static func send(
        _ method: String,
        _ url: String,
        headers: [(String, String)],
        body: Data? = nil
    ) async throws -> HTTPAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        request.headers = HTTPHeaders(headers)
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await client.execute(request, timeout: .seconds(60))
        let status = Int(response.status.code)
        if response.headers.first(name: "content-type") == "text/event-stream" {
            // They have no end. A client that stops reading ends the connection.
            for try await _ in response.body { break }
            return HTTPAnswer(status: status, headers: [:], body: Data())
        }
        let collected = try await response.body.collect(upTo: 64 << 20)
        return HTTPAnswer(status: status, headers: [:], body: Data(collected.readableBytesView))
    }

    private static let client = HTTPClient(
        eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: 1)),
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow)
    )
}
