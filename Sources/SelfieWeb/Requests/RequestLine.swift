import HTTPTypes
import Logging
import NIOCore

/// The log line of a request that has ended.
///
/// The endpoint is the pattern that matched, never the URL. A URL may hold ids, passwords and signatures.
struct RequestLine: Sendable {
    /// nil for a request whose head never came.
    let method: HTTPRequest.Method?
    /// The pattern that matched; nil when there is none.
    let endpoint: String?
    let status: HTTPResponse.Status
    let duration: TimeAmount
    /// The length of the answer's body.
    let byteCount: Int
    /// The client's network.
    let network: String

    static let none = "none"

    var metadata: Logger.Metadata {
        let tenths = (duration.nanoseconds + 50_000) / 100_000
        return [
            "method": .string(method?.rawValue ?? Self.none),
            "endpoint": .string(endpoint ?? Self.none),
            "status": .stringConvertible(status.code),
            "ms": .stringConvertible(Double(tenths) / 10),
            "bytes": .stringConvertible(byteCount),
            "network": .string(network),
        ]
    }
}
