import AsyncHTTPClient
import Encodings
import FoundationEssentials
import NIOCore
import NIOHTTP1
import SystemPackage

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

    /// The most bytes of a token's file that are read.
    private static let maxTokenBytes = 32 * 1024
    /// ECS's agent, and EKS's on IPv4 and IPv6.
    private static let hosts = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23", "::1"]

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
        if case .token(let token) = authorization, !Self.isToken(token) { throw .token }
        self.url = url
        self.authorization = authorization
    }

    /// Asks once.
    func fetch(over exchange: CredentialExchange) async throws(S3CredentialFailure) -> S3Credentials {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json")
        if let token = try token() { request.headers.add(name: "Authorization", value: token) }
        return try CredentialDocument.parse(try await exchange.bytes(of: request)).credentials()
    }

    private func token() throws(S3CredentialFailure) -> String? {
        switch authorization {
        case .none: return nil
        case .token(let token): return token
        case .file(let path):
            guard let bytes = try? Self.beginning(ofFile: path) else { throw .tokenFileUnreadable(path: path) }
            guard bytes.count <= Self.maxTokenBytes, let token = String(validating: bytes, as: UTF8.self),
                Self.isToken(token)
            else { throw .tokenMalformed(path: path) }
            return token
        }
    }

    /// As many bytes as a token may have, and one more.
    private static func beginning(ofFile path: String) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        return try file.closeAfter {
            var bytes: [UInt8] = []
            while bytes.count <= maxTokenBytes {
                let rest = maxTokenBytes + 1 - bytes.count
                let chunk = try [UInt8](unsafeUninitializedCapacity: rest) { buffer, count in
                    count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
                }
                guard !chunk.isEmpty else { break }
                bytes += chunk
            }
            return bytes
        }
    }

    /// A line break would begin a header of the token's own.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static func isURL(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !text.contains("#")
    }

    private static func mayBeAskedInTheClear(_ host: String) -> Bool {
        if host == "localhost" { return true }
        let bareHost = host.withoutBrackets
        guard let address = try? SocketAddress(ipAddress: bareHost, port: 0) else { return false }
        if case .v4 = address, bareHost.hasPrefix("127.") { return true }
        return hosts.contains { (try? SocketAddress(ipAddress: $0, port: 0)) == address }
    }
}

extension ContainerCredentials: CustomStringConvertible, CustomReflectable {
    /// Only the type's name.
    package var description: String { "ContainerCredentials(redacted)" }

    /// A mirror without children, so that `dump` and reflecting loggers find nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
