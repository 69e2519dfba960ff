import CLibCrypto

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D): keeps messages secret, and notices changes.
///
/// A sealed message is a random nonce of 12 bytes, the ciphertext, and a tag of 16 bytes. At most 2^32 messages may be sealed
/// with one key (section 8.3).
package struct AESGCM: Sendable {
    private let key: SecretBytes

    private static let nonceByteCount = 12
    private static let tagByteCount = 16

    /// - Parameters:
    ///   - secret: A secret of the service, of any length.
    ///   - purpose: Makes a key of its own for each purpose.
    package init(secret: String, purpose: String) {
        let digest = HMACSHA256(key: Array(secret.utf8)).code(of: Array(purpose.utf8))
        key = SecretBytes(count: CipherAlgorithm.keyByteCount) { key in
            digest.withUnsafeBytes { key.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(key.count))) }
        }
    }

    /// Seals a message.
    ///
    /// - Throws: ``CryptographyError/failed`` when libcrypto has no such cipher, or no memory.
    package func seal(_ message: some Collection<UInt8>) throws(CryptographyError) -> [UInt8] {
        let nonce = SecureGenerator.bytes(count: Self.nonceByteCount)
        var tag = [UInt8](repeating: 0, count: Self.tagByteCount)
        let tagByteCount = CInt(Self.tagByteCount)
        let ciphertext = try CipherAlgorithm.gcm.run(
            message,
            key: key,
            iv: nonce,
            encrypts: true,
            end: { EVP_CIPHER_CTX_ctrl($0, EVP_CTRL_AEAD_GET_TAG, tagByteCount, &tag) == 1 }
        )
        return nonce + ciphertext + tag
    }

    /// Opens a sealed message.
    ///
    /// - Throws: ``CryptographyError/failed`` when it was changed, or sealed with another key.
    package func open(_ sealed: [UInt8]) throws(CryptographyError) -> [UInt8] {
        guard sealed.count >= Self.nonceByteCount + Self.tagByteCount else { throw .failed }
        var tag = Array(sealed.suffix(Self.tagByteCount))
        let tagByteCount = CInt(Self.tagByteCount)
        return try CipherAlgorithm.gcm.run(
            sealed.dropFirst(Self.nonceByteCount).dropLast(Self.tagByteCount),
            key: key,
            iv: Array(sealed.prefix(Self.nonceByteCount)),
            encrypts: false,
            begin: { EVP_CIPHER_CTX_ctrl($0, EVP_CTRL_AEAD_SET_TAG, tagByteCount, &tag) == 1 }
        )
    }
}
