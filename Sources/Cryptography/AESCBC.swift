/// AES-256 in CBC mode, with PKCS#7 padding (NIST SP 800-38A; RFC 5652, section 6.3).
///
/// Nothing checks the message's integrity.
package struct AESCBC: Sendable {
    private let key: SecretBytes
    private let iv: [UInt8]

    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - iv: 16 bytes.
    /// - Throws: ``CryptographyError/length``.
    package init(key: SecretBytes, iv: [UInt8]) throws(CryptographyError) {
        guard key.withUnsafeBytes(\.count) == CipherAlgorithm.keyByteCount, iv.count == CipherAlgorithm.blockByteCount
        else { throw .length }
        (self.key, self.iv) = (key, iv)
    }

    /// Encrypts a message of any length.
    ///
    /// - Throws: ``CryptographyError/failed`` when libcrypto has no such cipher, or no memory.
    package func encrypt(_ message: some Collection<UInt8>) throws(CryptographyError) -> [UInt8] {
        try run(message, encrypts: true)
    }

    /// Decrypts a message.
    ///
    /// - Throws: ``CryptographyError/failed``, which does not say what was wrong: that would be a padding oracle.
    package func decrypt(_ message: some Collection<UInt8>) throws(CryptographyError) -> [UInt8] {
        try run(message, encrypts: false)
    }

    private func run(_ message: some Collection<UInt8>, encrypts: Bool) throws(CryptographyError) -> [UInt8] {
        try CipherAlgorithm.cbc.run(message, key: key, iv: iv, encrypts: encrypts)
    }
}
