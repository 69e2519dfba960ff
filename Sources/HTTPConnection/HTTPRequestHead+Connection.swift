import Encodings
import NIOHTTP1

/// A request's header fields about its connection.
extension HTTPRequestHead {
    /// How many bytes of a body follow; nil when there is no `Content-Length`.
    var bodyLength: Int? { headers.first(name: "content-length").flatMap { Int($0) } }

    /// Whether the client waits for `100 Continue` before it sends its body.
    var expectsContinue: Bool { headers[canonicalForm: "expect"].contains { ProtocolWord($0.utf8) == "100-continue" } }

    /// Whether NIO's decoder expects another protocol after it, and would read no further request.
    var changesProtocol: Bool { headers.contains(name: "upgrade") || method == .CONNECT }
}
