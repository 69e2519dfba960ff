import Encodings
import HTTPTypes
import Hummingbird
import NIOCore

/// What all calls of DreamFactory's routes have in common.
enum DreamFactoryRequest {
    static let applicationName = HTTPField.Name("X-DreamFactory-Application-Name")
    private static let tunnelled = HTTPField.Name("X-HTTP-Method")

    /// The request with the method that it means.
    ///
    /// A POST may name another method, for clients whose network lets no other through. `MERGE` is an old name of `PATCH`.
    /// Source: DreamFactory, "Common Headers and Parameters", "HTTP Verb Tunnelling".
    static func withMeantMethod(_ request: Request) -> Request {
        guard ServiceError.Form(of: request) == .dreamFactory else { return request }
        var method = request.method
        if method == .post, let name = tunnelled.flatMap({ request.headers[$0] }) ?? methodParameter(request) {
            // One that is not known is refused, and not taken for a POST.
            method = methods[name.uppercased()] ?? unknownMethod
        } else if method.rawValue == "MERGE" {
            method = .patch
        }
        guard method != request.method else { return request }
        var head = request.head
        head.method = method
        return Request(head: head, body: request.body)
    }

    private static let methods: [String: HTTPRequest.Method] = [
        "GET": .get, "PUT": .put, "PATCH": .patch, "MERGE": .patch, "DELETE": .delete,
    ]

    private static let unknownMethod = HTTPRequest.Method.trace

    private static func methodParameter(_ request: Request) -> String? {
        guard let query = request.uri.query, query.utf8.count <= maxQueryBytes else { return nil }
        return (try? FormParameters.parse(Array(query.utf8)))?["method"]
    }

    private static let maxQueryBytes = 16 * 1024

    /// Whether nobody on the way can read what a client sends: it uses TLS, or is on this machine.
    ///
    /// A proxy that ends TLS says so in `X-Forwarded-Proto`. A client that forges it only harms itself.
    ///
    /// - Parameters:
    ///   - headers: The request's headers.
    ///   - socket: The other end of the connection.
    ///   - hasProxy: Whether each request comes through a proxy.
    /// - Returns: Whether nobody can.
    static func isPrivate(_ headers: HTTPFields, socket: SocketAddress?, hasProxy: Bool) -> Bool {
        if let scheme = forwardedProtocol.flatMap({ headers[$0] }) {
            return ProtocolWord(scheme.utf8.prefix { $0 != UInt8(ascii: ",") }) == "https"
        }
        let isForwarded = forwarding.contains { headers.contains($0) }
        return !hasProxy && !isForwarded && socket?.isLoopback == true
    }

    private static let forwardedProtocol = HTTPField.Name("X-Forwarded-Proto")
    private static let forwarding = ["X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"].compactMap {
        HTTPField.Name($0)
    }
}

extension SocketAddress {
    /// Whether it is of this machine itself.
    fileprivate var isLoopback: Bool {
        guard let text = ipAddress else { return false }
        return text.hasPrefix("127.") || text == "::1" || text.hasPrefix("::ffff:127.")
    }
}
