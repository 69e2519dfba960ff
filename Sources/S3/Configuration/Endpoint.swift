import Encodings
import FoundationEssentials
import NIOCore

/// The scheme, host and port that a store listens on.
struct Endpoint: Sendable, Hashable {
    /// `http` or `https`.
    let scheme: String
    /// The host and, where the scheme does not imply it, the port.
    let authority: String
    /// Whether the host is an IP address or `localhost`: no bucket's name can stand before those.
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
        let bareHost = host.withoutBrackets
        hasNoSubdomains = host == "localhost" || (try? SocketAddress(ipAddress: bareHost, port: port)) != nil
    }

    /// Whether it is AWS's own endpoint of a region, or the one without a region.
    ///
    /// These differ only by the region in their names.
    ///
    /// Those for another purpose, such as `s3.dualstack.eu-west-1.amazonaws.com`, are not.
    var isOfAWS: Bool {
        let labels = authority.split(separator: ".", omittingEmptySubsequences: false)
        let count = labels.count - (labels.last == "cn" ? 1 : 0)
        return scheme == "https" && labels.first == "s3" && (3...4).contains(count)
            && labels[..<count].suffix(2) == ["amazonaws", "com"]
    }

    private static let defaultPorts = ["http": 80, "https": 443]
}
