package import Cryptography
import FoundationEssentials

/// What a webhook's requests are signed with (Standard Webhooks 1.0, "Symmetric signatures").
///
/// Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
package struct WebhookSecret: Sendable {
    private let bytes: SecretBytes
    private let code: HMACSHA256

    private static let prefix = "whsec_"
    private static let byteCount = 32

    private init(_ bytes: some Collection<UInt8>) {
        self.bytes = SecretBytes(bytes)
        code = HMACSHA256(key: bytes)
    }

    /// A new secret of 32 random bytes.
    package static func make() -> WebhookSecret { WebhookSecret(SecureGenerator.bytes(count: byteCount)) }

    /// What the receiver gets: `whsec_` and the bytes in base64.
    package var text: String { Self.prefix + bytes.withUnsafeBytes { Data($0).base64EncodedString() } }

    /// The bytes, sealed for the database.
    ///
    /// - Throws: `CryptographyError`.
    package func sealed(by box: AESGCM) throws(CryptographyError) -> [UInt8] {
        try box.seal(bytes.withUnsafeBytes { Array($0) })
    }

    /// Opens sealed bytes.
    ///
    /// - Throws: `CryptographyError` when they were sealed with another key.
    package init(sealed: [UInt8], by box: AESGCM) throws(CryptographyError) {
        self.init(try box.open(sealed))
    }

    /// The signature of a request: `v1,` and a code in base64.
    ///
    /// - Parameters:
    ///   - id: The event's id, the same in all tries.
    ///   - timestamp: The time of the try, in seconds since 1970.
    ///   - body: The whole body.
    /// - Returns: The signature.
    package func signature(id: String, timestamp: Int, body: String) -> String {
        let digest = code.code { hash in
            hash.update(Array("\(id).\(timestamp).".utf8))
            hash.update(Array(body.utf8))
        }
        return "v1," + digest.withUnsafeBytes { Data($0).base64EncodedString() }
    }
}
