import Foundation
import NIOCore

/// The scheme, host and port that a store listens on.
struct Endpoint: Sendable, Hashable {
    /// `http` or `https`.
    let scheme: String
    /// The host and, where the scheme does not imply it, the port.
    let authority: String
    /// Whether the host is an IP address or `localhost`, before which no bucket's name can be put.
    let hasNoSubdomains: Bool

    init(url: String) throws(S3ConfigurationError) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            let host = parts.encodedHost?.lowercased(), !host.isEmpty, let defaultPort = Self.defaultPorts[scheme]
        else { throw .endpointNotHTTP }
        guard parts.path.isEmpty || parts.path == "/", parts.query == nil, parts.fragment == nil,
            parts.user == nil, parts.password == nil
        else { throw .endpointNotBare }

        let port = parts.port ?? defaultPort
        guard (1...65535).contains(port) else { throw .endpointNotHTTP }
        self.scheme = scheme
        authority = port == defaultPort ? host : "\(host):\(port)"
        let bareHost = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        hasNoSubdomains = host == "localhost" || (try? SocketAddress(ipAddress: bareHost, port: port)) != nil
    }

    private static let defaultPorts = ["http": 80, "https": 443]
}
