import ConnectionTestSupport
import Curl
import NIOCore
import NIOHTTP1
import Testing

extension CurlDeadlines {
    /// Such that no busy machine breaks them.
    static var patient: CurlDeadlines { CurlDeadlines(within: .seconds(100)) }
}

extension CurlClient {
    /// Sends a request without deadlines that matter, and collects its answer.
    func send(
        _ method: HTTPMethod = .GET,
        _ url: String,
        headers: HTTPHeaders = [:],
        body: RequestBody? = nil,
        deadlines: CurlDeadlines = .patient
    ) async throws -> (status: UInt, text: String) {
        var request = CurlRequest(url: url)
        (request.method, request.headers, request.body) = (method, headers, body)
        return try await perform(request, deadlines: deadlines) { response in
            (response.status.code, String(buffer: try await response.body.collect(upTo: 1 << 26)))
        }
    }
}

/// The reason why a transfer fails.
func reason(_ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) async -> CurlError? {
    do {
        try await body()
        Issue.record("it succeeds", sourceLocation: sourceLocation)
    } catch let failure as CurlFailure {
        return failure.reason
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
    return nil
}

extension CurlError {
    /// Whether two are of one kind, with the same details where they are comparable.
    func isSame(as other: CurlError) -> Bool { "\(self)" == "\(other)" }
}
