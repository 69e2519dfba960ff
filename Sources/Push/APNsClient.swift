package import Curl
import FoundationEssentials
import JSON
import NIOCore
import NIOHTTP1
import OrderedCollections

/// Sends pushes to Apple by HTTP/2.
///
/// All requests share few connections. One that got a GOAWAY, or was silent, is not used again: after any error, libcurl makes
/// new ones (decision 31).
package struct APNsClient: Sendable {
    private let curl: CurlClient
    private let origin: String

    /// How long Apple may take.
    package var maxSendTime: Duration = .seconds(10)

    /// Apple's server for apps of the App Store and TestFlight.
    package static let production = "https://api.push.apple.com"
    /// Apple's server for apps that Xcode has installed.
    package static let sandbox = "https://api.sandbox.push.apple.com"

    /// How many connections a process has; Apple takes 1,000 requests at once on one.
    private static let maxConnections = 2

    /// - Parameters:
    ///   - origin: The server, such as ``production``.
    ///   - connections: How connections are made.
    package init(origin: String, connections: CurlConfiguration = CurlConfiguration()) {
        var connections = connections
        connections.version = .http2
        connections.maxConnectionsPerHost = Self.maxConnections
        // Apple wants connections to stay: new ones every minute look like an attack.
        connections.idle = .seconds(900)
        curl = CurlClient(connections)
        self.origin = origin
    }

    /// Sends a push.
    ///
    /// - Parameters:
    ///   - request: The push.
    ///   - token: The provider token.
    /// - Returns: What Apple has said.
    /// - Throws: `CurlFailure` when it has said nothing.
    package func send(_ request: APNsRequest, token: String) async throws -> APNsAnswer {
        var call = CurlRequest(url: "\(origin)/3/device/\(request.deviceToken)")
        call.method = .POST
        call.headers = [
            "authorization": "bearer \(token)",
            "apns-id": request.id.uuidString.lowercased(),
            "apns-topic": request.topic,
            "apns-push-type": request.kind.rawValue,
            "apns-priority": request.kind == .background ? "5" : "10",
            "apns-expiration": "\(Int(request.expiresAt.timeIntervalSince1970))",
        ]
        if let collapseID = request.collapseID { call.headers.add(name: "apns-collapse-id", value: collapseID) }
        call.body = .bytes(ByteBuffer(string: request.payload))
        let answer = try await curl.answer(to: call, within: maxSendTime)
        return Self.read(answer)
    }

    private static func read(_ answer: CurlAnswer) -> APNsAnswer {
        var (reason, invalidSince): (String?, Date?)
        if case .object(let members)? = try? JSONValue.parse(answer.body.readableBytesView) {
            if case .string(let text)? = members["reason"] { reason = text.pushReason }
            // Milliseconds since 1970.
            if case .number(let text)? = members["timestamp"], let milliseconds = Double(text) {
                invalidSince = Date(timeIntervalSince1970: milliseconds / 1_000)
            }
        }
        let seconds = answer.headers.first(name: "Retry-After").flatMap { Int($0) }
        return APNsAnswer(
            status: Int(answer.status.code),
            reason: reason,
            invalidSince: invalidSince,
            retryAfter: seconds.flatMap { $0 > 0 ? .seconds($0) : nil }
        )
    }
}
