import ConnectionTestSupport
import Foundation
import ServiceTestSupport
import Testing

extension TestService {
    /// Runs a body while so many uploads of a token have begun, and sent no byte of their bodies.
    func withBegunUploads(
        _ count: Int,
        token: String,
        _ body: @Sendable () async throws -> Void
    ) async throws {
        guard count > 0 else { return try await body() }
        try await RawConnection.open(port: port) { connection in
            try await connection.send(Self.uploadHead(token: token))
            var connection = connection
            // The service asks for the body once the upload has its place.
            let answer = String(decoding: try await connection.readSome(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 100 "), "\(answer)")
            try await withBegunUploads(count - 1, token: token, body)
        }
    }

    static func uploadHead(token: String) -> String {
        """
        POST /api/upload_photo HTTP/1.1\r
        Host: a\r
        Authorization: Token \(token)\r
        Content-Type: \(TestMultipart.contentType)\r
        Content-Length: 1000\r
        Expect: 100-continue\r
        \r

        """
    }
}
