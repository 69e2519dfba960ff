import Curl
import Encodings
import FoundationEssentials
import NIOCore
import NIOHTTP1

/// A role that a token of another identity provider gives, such as Kubernetes' for a service account (IRSA on EKS).
///
/// The provider replaces the token's file, so it is read for each fetch. A `POST` to AWS's Security Token Service is
/// answered with XML. Sources: AWS STS API Reference, "AssumeRoleWithWebIdentity"; AWS SDKs and Tools Reference Guide,
/// "Assume role credential provider".
package struct WebIdentityCredentials: Sendable {
    let tokenPath: String
    let role: String
    let sessionName: String
    /// Scheme, host and port, without a slash at its end.
    let endpoint: String

    /// Takes what the environment names.
    ///
    /// - Parameters:
    ///   - tokenPath: the token's file.
    ///   - role: the role's ARN, 20 to 2048 visible ASCII characters.
    ///   - sessionName: 2 to 64 letters, digits and `=,.@-_`, for AWS's logs.
    ///   - region: whose service is asked.
    ///   - endpoint: another service's URL: `https`, or `http` to this machine.
    /// - Throws: ``S3CredentialConfigurationError``.
    package init(
        tokenPath: String,
        role: String,
        sessionName: String? = nil,
        region: String,
        endpoint: String? = nil
    ) throws(S3CredentialConfigurationError) {
        guard (20...2_048).contains(role.utf8.count), role.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .role
        }
        let sessionName = sessionName ?? "selfie"
        guard (2...64).contains(sessionName.utf8.count), sessionName.utf8.allSatisfy(Self.isOfSessionName) else {
            throw .sessionName
        }
        (self.tokenPath, self.role, self.sessionName) = (tokenPath, role, sessionName)
        self.endpoint = try endpoint.map(Self.checked) ?? Self.endpoint(region: region)
    }

    /// Asks once.
    func fetch(over exchange: CredentialExchange) async throws(S3CredentialFailure) -> S3Credentials {
        var request = CurlRequest(url: "\(endpoint)/")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        let parameters = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", sessionName), ("WebIdentityToken", try TokenFile.read(tokenPath)),
        ]
        let form = parameters.map { "\($0)=\(PercentEncoding.string(of: $1))" }.joined(separator: "&")
        request.body = .bytes(ByteBuffer(string: form))
        return try Self.parse(try await exchange.bytes(of: request))
    }

    /// - Throws: ``S3CredentialFailure/malformed``.
    static func parse(_ bytes: ByteBuffer) throws(S3CredentialFailure) -> S3Credentials {
        do {
            let root = try DocumentElement.read(bytes, root: "AssumeRoleWithWebIdentity")
            let keys = root.first("AssumeRoleWithWebIdentityResult")?.first("Credentials")
            guard let keys, let id = keys["AccessKeyId"], let secret = keys["SecretAccessKey"],
                let end = keys["Expiration"].flatMap(ISO8601.date)
            else { throw S3CredentialFailure.malformed }
            return try S3Credentials(
                accessKeyID: id,
                secretAccessKey: secret,
                sessionToken: keys["SessionToken"],
                expiration: end
            )
        } catch {
            throw .malformed
        }
    }

    private static func endpoint(region: String) -> String {
        "https://sts.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
    }

    /// The token must not leave the machine in the clear.
    private static func checked(_ endpoint: String) throws(S3CredentialConfigurationError) -> String {
        guard endpoint.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let parts = URLComponents(string: endpoint),
            let scheme = parts.scheme?.lowercased(), let host = parts.encodedHost, !host.isEmpty, parts.query == nil,
            parts.fragment == nil, parts.user == nil, parts.password == nil,
            scheme == "https" || scheme == "http" && ContainerCredentials.isOfThisMachine(host)
        else { throw .tokenServiceEndpoint }
        return endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
    }

    /// Source: AWS STS API Reference, "AssumeRoleWithWebIdentity", `RoleSessionName`.
    private static func isOfSessionName(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "=,.@-_".utf8.contains(byte)
    }
}
