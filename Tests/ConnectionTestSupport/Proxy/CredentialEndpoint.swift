package import Foundation
import NIOCore
package import ServerProcesses
import Synchronization

/// A container's credentials endpoint: the one key pair of a store's, with session tokens that change.
package struct CredentialEndpoint: Sendable {
    /// Where to ask.
    package let url: String
    private let state: State

    private final class State: Sendable {
        let generation = Mutex(1)
        let requestCount = Mutex(0)
    }

    /// Runs a body with an endpoint.
    ///
    /// - Parameters:
    ///   - server: Whose keys it gives.
    ///   - lifetime: How many seconds from the request on the keys are said to live.
    ///   - body: Uses the endpoint.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or what keeps the endpoint from listening.
    package static func with<Result: Sendable>(
        _ server: any S3Server,
        lifetime: TimeInterval,
        _ body: (CredentialEndpoint) async throws -> Result
    ) async throws -> Result {
        let state = State()
        return try await HTTPListener.run { connection in
            while let request = try await connection.readHead() {
                try await connection.skip(request.length)
                let count = state.requestCount.withLock { count in
                    count += 1
                    return count
                }
                // Every third time it is out of order.
                let document = """
                    {"AccessKeyId":"\(server.accessKeyID)","SecretAccessKey":"\(server.secretAccessKey)",\
                    "Token":"\(token(state.generation.withLock { $0 }))",\
                    "Expiration":"\(Date(timeIntervalSinceNow: lifetime).formatted(.iso8601))"}
                    """
                let (status, body) = count % 3 == 0 ? ("500 Internal Server Error", "") : ("200 OK", document)
                try await connection.write(
                    ByteBuffer(string: "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                )
            }
        } _: { port in
            try await body(CredentialEndpoint(url: "http://127.0.0.1:\(port)/keys", state: state))
        }
    }

    /// How often it was asked.
    package var requestCount: Int { state.requestCount.withLock { $0 } }

    /// The session token that it gives at the moment.
    package var sessionToken: String { Self.token(state.generation.withLock { $0 }) }

    /// Ends the session token, and gives another from now on.
    ///
    /// - Returns: The new one.
    package func renew() -> String {
        state.generation.withLock { $0 += 1 }
        return sessionToken
    }

    private static func token(_ generation: Int) -> String { "session-token-\(generation)" }
}
