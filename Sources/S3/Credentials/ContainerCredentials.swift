import Curl
import Encodings
import FoundationEssentials
import NIOCore
import NIOHTTP1

/// The credentials endpoint of a container: ECS's task role, EKS Pod Identity, or another of the same protocol.
///
/// A `GET` is answered with JSON. ECS gives a relative URI, to put after `http://169.254.170.2`; EKS gives a full one
/// and a file with a token, which it rotates. Source: AWS SDKs and Tools Reference Guide, "Container credential
/// provider".
package struct ContainerCredentials: Sendable {
    /// The value of the header `Authorization`.
    package enum Authorization: Sendable {
        /// No such header.
        case none
        /// This token.
        case token(String)
        /// The token that the file holds at the time.
        case file(path: String)
    }

    /// Where it asks.
    let url: String
    private let authorization: Authorization

    /// ECS's agent, and EKS's on IPv4 and IPv6.
    private static let hosts = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"]

    /// Asks ECS's agent.
    ///
    /// - Parameters:
    ///   - relativeURI: a path with a slash before it, perhaps with a query.
    ///   - authorization: the authorization that the agent requires.
    /// - Throws: ``S3CredentialConfigurationError``.
    package init(
        relativeURI: String,
        authorization: Authorization = .none
    ) throws(S3CredentialConfigurationError) {
        // Without the slash, "@elsewhere" would make the address a user's name and ask another host.
        guard relativeURI.hasPrefix("/"), Self.isURL(relativeURI) else { throw .relativeURI }
        try self.init(url: "http://169.254.170.2\(relativeURI)", authorization: authorization)
    }

    /// Asks an endpoint of any kind.
    ///
    /// The request holds a token and the answer holds keys, so without TLS they must not leave the machine. Only
    /// `localhost` is accepted as a name: a DNS answer may be forged.
    ///
    /// - Parameters:
    ///   - fullURI: `https`, or `http` to `localhost`, a loopback address or an address of AWS's own agents.
    ///   - authorization: the authorization that the endpoint requires.
    /// - Throws: ``S3CredentialConfigurationError``.
    package init(fullURI: String, authorization: Authorization = .none) throws(S3CredentialConfigurationError) {
        guard Self.isURL(fullURI), let parts = URLComponents(string: fullURI), let scheme = parts.scheme?.lowercased(),
            let host = parts.encodedHost?.lowercased(), !host.isEmpty, parts.user == nil, parts.password == nil,
            parts.fragment == nil, ["http", "https"].contains(scheme)
        else { throw .fullURI }
        guard scheme == "https" || Self.mayBeAskedInTheClear(host) else { throw .fullURIHost }
        try self.init(url: fullURI, authorization: authorization)
    }

    private init(url: String, authorization: Authorization) throws(S3CredentialConfigurationError) {
        if case .token(let token) = authorization, !TokenFile.isToken(token) { throw .token }
        self.url = url
        self.authorization = authorization
    }

    /// Asks once.
    func fetch(over exchange: CredentialExchange) async throws(S3CredentialFailure) -> S3Credentials {
        var request = CurlRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json")
        if let token = try token() { request.headers.add(name: "Authorization", value: token) }
        return try CredentialDocument.parse(try await exchange.bytes(of: request)).credentials()
    }

    private func token() throws(S3CredentialFailure) -> String? {
        switch authorization {
        case .none: return nil
        case .token(let token): return token
        case .file(let path): return try TokenFile.read(path)
        }
    }

    private static func isURL(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !text.contains("#")
    }

    private static func mayBeAskedInTheClear(_ host: String) -> Bool {
        if isOfThisMachine(host) { return true }
        guard let address = try? SocketAddress(ipAddress: host.withoutBrackets, port: 0) else { return false }
        return hosts.contains { (try? SocketAddress(ipAddress: $0, port: 0)) == address }
    }

    /// Whether a host is `localhost` or a loopback address.
    static func isOfThisMachine(_ host: String) -> Bool {
        if host == "localhost" { return true }
        let bareHost = host.withoutBrackets
        guard let address = try? SocketAddress(ipAddress: bareHost, port: 0) else { return false }
        if case .v4 = address, bareHost.hasPrefix("127.") { return true }
        return address == (try? SocketAddress(ipAddress: "::1", port: 0))
    }
}

extension ContainerCredentials: CustomStringConvertible, CustomReflectable {
    /// Only the type's name.
    package var description: String { "ContainerCredentials(redacted)" }

    /// A mirror without children, so that `dump` and reflecting loggers find nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
