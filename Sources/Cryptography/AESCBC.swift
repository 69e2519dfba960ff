import CLibCrypto

/// AES-256 in CBC mode, with PKCS#7 padding (NIST SP 800-38A; RFC 5652, section 6.3).
///
/// Nothing checks the message's integrity.
package struct AESCBC: Sendable {
    private let key: SecretBytes
    private let iv: [UInt8]

    static let name = "AES-256-CBC"

    private static let keyByteCount = 32
    private static let blockByteCount = 16

    private nonisolated(unsafe) static let cipher = EVP_CIPHER_fetch(nil, name, nil)

    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - iv: 16 bytes.
    /// - Throws: ``CryptographyError/length``.
    package init(key: SecretBytes, iv: [UInt8]) throws(CryptographyError) {
        guard key.withUnsafeBytes(\.count) == Self.keyByteCount, iv.count == Self.blockByteCount else { throw .length }
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
        guard message.count < Int(CInt.max) - Self.blockByteCount else { throw .length }
        guard let cipher = Self.cipher, let context = EVP_CIPHER_CTX_new() else { throw .failed }
        defer {
            EVP_CIPHER_CTX_free(context)
            ERR_clear_error()
        }
        let hasBegun = key.withUnsafeBytes { key in
            iv.withUnsafeBytes { iv in
                EVP_CipherInit_ex2(context, cipher, key.octets, iv.octets, encrypts ? 1 : 0, nil) == 1
            }
        }
        guard hasBegun else { throw .failed }
        var isDone = false
        let output = [UInt8](unsafeUninitializedCapacity: message.count + Self.blockByteCount) { output, count in
            var (written, rest): (CInt, CInt) = (0, 0)
            isDone =
                withBytes(of: message) { message in
                    EVP_CipherUpdate(context, output.baseAddress, &written, message.octets, CInt(message.count)) == 1
                } && EVP_CipherFinal_ex(context, output.baseAddress.map { $0 + Int(written) }, &rest) == 1
            count = isDone ? Int(written + rest) : 0
        }
        guard isDone else { throw .failed }
        return output
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes as libcrypto takes them.
    var octets: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
