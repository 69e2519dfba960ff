import Curl
import FoundationEssentials
import NIOCore
import NIOHTTP1

/// The role of an EC2 instance, from version 2 of its metadata service.
///
/// A `PUT` gets a session's token. Two `GET`s with that token get the role's name and its credentials. Version 1 is
/// never used: it has no token, so anybody who makes a process fetch a URL could read the keys. Sources: AWS SDKs and
/// Tools Reference Guide, "IMDS credential provider". Amazon EC2 User Guide, "Use the Instance Metadata Service to
/// access instance metadata" and "Retrieve security credentials from instance metadata".
package struct InstanceCredentials: Sendable {
    /// Scheme, host, port and perhaps a path, without a slash at its end.
    let endpoint: String

    /// Longer than a fetch.
    ///
    /// The next fetch asks for another token.
    private static let tokenSeconds = 60
    private static let rolesPath = "/latest/meta-data/iam/security-credentials/"

    /// Takes the service's own address, or another.
    ///
    /// - Parameter endpoint: an `http` or `https` URL instead of `http://169.254.169.254`, such as the one on IPv6,
    ///   `http://[fd00:ec2::254]`.
    /// - Throws: ``S3CredentialConfigurationError/metadataEndpoint``.
    package init(endpoint: String? = nil) throws(S3CredentialConfigurationError) {
        let endpoint = endpoint ?? "http://169.254.169.254"
        guard endpoint.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let parts = URLComponents(string: endpoint),
            let scheme = parts.scheme?.lowercased(), let host = parts.encodedHost, !host.isEmpty,
            ["http", "https"].contains(scheme), parts.query == nil, parts.fragment == nil, parts.user == nil,
            parts.password == nil
        else { throw .metadataEndpoint }
        self.endpoint = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
    }

    /// Asks once.
    func fetch(over exchange: CredentialExchange) async throws(S3CredentialFailure) -> S3Credentials {
        let token = try await token(over: exchange)
        let role = try await role(token: token, over: exchange)
        let bytes = try await exchange.bytes(of: request(Self.rolesPath + role, token: token))
        let document = try CredentialDocument.parse(bytes)
        try document.checkCode()
        return try document.credentials()
    }

    private func token(over exchange: CredentialExchange) async throws(S3CredentialFailure) -> String {
        var request = CurlRequest(url: "\(endpoint)/latest/api/token")
        request.method = .PUT
        request.headers.add(name: "X-aws-ec2-metadata-token-ttl-seconds", value: "\(Self.tokenSeconds)")
        let token = String(buffer: try await exchange.bytes(of: request))
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .malformed }
        return token
    }

    /// An instance has one role.
    ///
    /// If there were more, we would take the first.
    private func role(token: String, over exchange: CredentialExchange) async throws(S3CredentialFailure) -> String {
        let list: String
        do {
            list = String(buffer: try await exchange.bytes(of: request(Self.rolesPath, token: token)))
        } catch .status(404) {
            throw .noRole
        }
        guard let role = list.split(whereSeparator: \.isNewline).first else { throw .noRole }
        guard (1...Self.maxRoleBytes).contains(role.utf8.count), role.utf8.allSatisfy(Self.isOfRoleName) else {
            throw .malformed
        }
        return String(role)
    }

    private func request(_ path: String, token: String) -> CurlRequest {
        var request = CurlRequest(url: endpoint + path)
        request.headers.add(name: "X-aws-ec2-metadata-token", value: token)
        return request
    }

    /// Source: IAM User Guide, "IAM and AWS STS quotas", which names the characters too.
    private static let maxRoleBytes = 128

    /// None of these characters means anything in a path.
    private static func isOfRoleName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "+=,.@-_".utf8.contains(byte)
        }
    }
}
