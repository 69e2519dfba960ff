package import Curl
package import FoundationEssentials
package import JSON
import NIOCore
import NIOHTTP1
import OrderedCollections

/// Sends pushes to Google (FCM, HTTP v1 API).
package struct FCMClient: Sendable {
    private let account: FCMAccount
    private let curl: CurlClient
    private let origin: String

    /// How long Google may take.
    package var maxSendTime: Duration = .seconds(10)

    /// Google's server.
    package static let origin = "https://fcm.googleapis.com"

    private static let maxConnections = 2

    /// - Parameters:
    ///   - account: Who sends.
    ///   - origin: The server.
    ///   - connections: How connections are made.
    package init(
        account: FCMAccount,
        origin: String = FCMClient.origin,
        connections: CurlConfiguration = CurlConfiguration()
    ) {
        var connections = connections
        connections.version = .http2
        connections.maxConnectionsPerHost = Self.maxConnections
        connections.idle = .seconds(240)
        curl = CurlClient(connections)
        (self.account, self.origin) = (account, origin)
    }

    /// Why there is no access token.
    package struct TokenRefused: Error, Equatable {
        package let status: Int
        /// A word, such as `invalid_grant`; nil for none.
        package let code: String?
    }

    /// Fetches an access token, which is valid for about an hour (RFC 7523).
    ///
    /// - Parameter date: The present.
    /// - Returns: The token.
    /// - Throws: ``TokenRefused``, `CurlFailure`, `CryptographyError`.
    package func fetchToken(at date: Date) async throws -> String {
        var call = CurlRequest(url: account.tokenURL)
        call.method = .POST
        call.headers = ["Content-Type": "application/x-www-form-urlencoded"]
        // Base64url and dots need no encoding.
        let assertion = try account.assertion(at: date)
        call.body = .bytes(
            ByteBuffer(
                string: "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
            )
        )
        let answer = try await curl.answer(to: call, within: maxSendTime)
        var members: [String: String] = [:]
        if case .object(let object)? = try? JSONValue.parse(answer.body.readableBytesView) {
            for (name, value) in object { if case .string(let text) = value { members[name] = text } }
        }
        guard answer.status.code == 200, let token = members["access_token"] else {
            throw TokenRefused(status: Int(answer.status.code), code: members["error"]?.pushReason)
        }
        return token
    }

    /// Sends a push.
    ///
    /// - Parameters:
    ///   - message: The member `message` of the request, as JSON.
    ///   - token: The access token.
    ///   - isOnlyChecked: Whether Google only checks it.
    /// - Returns: What Google has said.
    /// - Throws: `CurlFailure` when it has said nothing.
    package func send(_ message: JSONValue, token: String, isOnlyChecked: Bool = false) async throws -> FCMAnswer {
        var call = CurlRequest(url: "\(origin)/v1/projects/\(account.projectID)/messages:send")
        call.method = .POST
        call.headers = ["Authorization": "Bearer \(token)", "Content-Type": "application/json"]
        let body = JSONValue.object(["validate_only": .boolean(isOnlyChecked), "message": message])
        call.body = .bytes(ByteBuffer(string: body.text))
        let answer = try await curl.answer(to: call, within: maxSendTime)
        let seconds = answer.headers.first(name: "Retry-After").flatMap { Int($0) }
        return FCMAnswer(
            status: Int(answer.status.code),
            body: answer.body.readableBytesView,
            retryAfter: seconds.flatMap { $0 > 0 ? .seconds($0) : nil }
        )
    }
}
