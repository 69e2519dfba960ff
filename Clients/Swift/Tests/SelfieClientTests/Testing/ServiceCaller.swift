import Foundation
import SelfieClient
import SelfieTesting
import Testing

/// Sends requests of a member that the client does not make, and shows all of the answers.
struct ServiceCaller {
    /// An answer's status, body and header.
    struct Answer {
        let response: TransportResponse

        var status: Int { response.status }
        var json: JSONValue { (try? JSONCoding.decode(JSONValue.self, from: response.body)) ?? .null }
        /// The status, the code and the message of a refusal, such as `404 record_not_found: There is no such record`.
        var refusal: String { "\(status) \(json["code"]?.text ?? "-"): \(json["message"]?.text ?? "-")" }
    }

    /// Notes the credential of the requests that go through it.
    private final class CredentialTransport: Transport {
        let service: InMemoryService
        let credential = Locked<String?>(nil)

        init(_ service: InMemoryService) { self.service = service }

        func send(_ request: TransportRequest, progress: (@Sendable (Int64) -> Void)?) async throws -> TransportResponse
        {
            credential.withLock { $0 = request.headers["Authorization"] ?? $0 }
            return try await service.send(request, progress: progress)
        }
    }

    private let service: InMemoryService
    private let credential: String
    let memberID: String

    /// Signs a member in.
    init(_ service: InMemoryService, as email: String) async throws {
        let transport = CredentialTransport(service)
        let selfie = try await service.makeClient(signedInAs: email) { $0.transport = transport }
        memberID = try await selfie.profile().id
        (self.service, credential) = (service, try #require(transport.credential.withLock { $0 }))
    }

    /// Sends a request with the member's token.
    ///
    /// - Parameters:
    ///   - method: Such as `PATCH`.
    ///   - path: The path behind `/api/`, with the query.
    ///   - body: JSON.
    ///   - headers: Further fields of the header.
    /// - Returns: The answer, whatever its status.
    /// - Throws: `TransportError`.
    func send(_ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:]) async throws
        -> Answer
    {
        let url = try #require(URL(string: "\(service.url.absoluteString)/api/\(path)"))
        var request = TransportRequest(method: method, url: url, headers: headers)
        request.headers["Authorization"] = credential
        if let body {
            request.headers["Content-Type"] = "application/json"
            request.body = .data(Data(body.utf8))
        }
        return Answer(response: try await service.send(request, progress: nil))
    }
}
