import Encodings
import FoundationEssentials
import NIOCore

/// The JSON in which the container's endpoint and the metadata service send credentials.
///
/// Sources: AWS SDKs and Tools Reference Guide, "Container credential provider"; Amazon EC2 User Guide, "Retrieve
/// security credentials from instance metadata".
struct CredentialDocument: Sendable, Decodable {
    /// `Success`, or the reason why there are none.
    ///
    /// Only the metadata service sends it.
    private let code: String?
    private let accessKeyID: String?
    private let secretAccessKey: String?
    private let token: String?
    /// ISO 8601 in UTC; an endpoint of a container with long-lived keys leaves it out.
    private let expiration: String?

    private enum CodingKeys: String, CodingKey {
        case code = "Code"
        case accessKeyID = "AccessKeyId"
        case secretAccessKey = "SecretAccessKey"
        case token = "Token"
        case expiration = "Expiration"
    }

    /// Reads the document.
    ///
    /// - Throws: ``S3CredentialFailure/malformed``; the decoder's own error could repeat a part of the content.
    static func parse(_ bytes: ByteBuffer) throws(S3CredentialFailure) -> Self {
        do {
            return try JSONDecoder().decode(Self.self, from: Data(bytes.readableBytesView))
        } catch {
            throw .malformed
        }
    }

    /// - Throws: ``S3CredentialFailure/unsuccessful(code:)`` when the document says anything but `Success`.
    func checkCode() throws(S3CredentialFailure) {
        guard let code else { throw .malformed }
        guard code == "Success" else {
            // A single word such as AssumeRoleUnauthorizedAccess helps. Any other text is not passed on.
            let isWord =
                (1...64).contains(code.utf8.count) && code.utf8.allSatisfy { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }
            throw .unsuccessful(code: isWord ? code : "without a reason")
        }
    }

    /// - Throws: ``S3CredentialFailure/malformed`` when a key is missing or malformed, or the end is not a date.
    func credentials() throws(S3CredentialFailure) -> S3Credentials {
        let end = expiration.flatMap(ISO8601.date)
        guard let accessKeyID, let secretAccessKey, (end == nil) == (expiration == nil) else { throw .malformed }
        do {
            return try S3Credentials(
                accessKeyID: accessKeyID,
                secretAccessKey: secretAccessKey,
                sessionToken: token,
                expiration: end
            )
        } catch {
            throw .malformed
        }
    }
}

extension CredentialDocument: CustomStringConvertible, CustomReflectable {
    var description: String { "CredentialDocument(redacted)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
