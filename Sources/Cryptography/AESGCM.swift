import CLibCrypto

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D): keeps messages secret, and notices changes.
///
/// A sealed message is a random nonce of 12 bytes, the ciphertext, and a tag of 16 bytes. At most 2^32 messages may be sealed
/// with one key (section 8.3).
package struct AESGCM: Sendable {
    private let key: SecretBytes

    static let name = "AES-256-GCM"

    private static let keyByteCount = 32
    private static let nonceByteCount = 12
    private static let tagByteCount = 16

    private nonisolated(unsafe) static let cipher = EVP_CIPHER_fetch(nil, name, nil)

    /// - Parameters:
    ///   - secret: A secret of the service, of any length.
    ///   - purpose: Makes a key of its own for each purpose.
    package init(secret: String, purpose: String) {
        let digest = HMACSHA256(key: Array(secret.utf8)).code(of: Array(purpose.utf8))
        key = SecretBytes(count: Self.keyByteCount) { key in
            digest.withUnsafeBytes { key.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(key.count))) }
        }
    }

    /// Seals a message.
    ///
    /// - Throws: ``CryptographyError/failed`` when libcrypto has no such cipher, or no memory.
    package func seal(_ message: some Collection<UInt8>) throws(CryptographyError) -> [UInt8] {
        let nonce = SecureGenerator.bytes(count: Self.nonceByteCount)
        var tag = [UInt8](repeating: 0, count: Self.tagByteCount)
        let ciphertext = try run(message, nonce: nonce, tag: &tag, encrypts: true)
        return nonce + ciphertext + tag
    }

    /// Opens a sealed message.
    ///
    /// - Throws: ``CryptographyError/failed`` when it was changed, or sealed with another key.
    package func open(_ sealed: [UInt8]) throws(CryptographyError) -> [UInt8] {
        guard sealed.count >= Self.nonceByteCount + Self.tagByteCount else { throw .failed }
        var tag = Array(sealed.suffix(Self.tagByteCount))
        return try run(
            sealed.dropFirst(Self.nonceByteCount).dropLast(Self.tagByteCount),
            nonce: Array(sealed.prefix(Self.nonceByteCount)),
            tag: &tag,
            encrypts: false
        )
    }

    private func run(
        _ message: some Collection<UInt8>,
        nonce: [UInt8],
        tag: inout [UInt8],
        encrypts: Bool
    ) throws(CryptographyError) -> [UInt8] {
        guard message.count < Int(CInt.max) else { throw .length }
        guard let cipher = Self.cipher, let context = EVP_CIPHER_CTX_new() else { throw .failed }
        defer {
            EVP_CIPHER_CTX_free(context)
            ERR_clear_error()
        }
        let hasBegun = key.withUnsafeBytes { key in
            nonce.withUnsafeBytes { nonce in
                EVP_CipherInit_ex2(context, cipher, key.octets, nonce.octets, encrypts ? 1 : 0, nil) == 1
            }
        }
        guard hasBegun else { throw .failed }
        let tagByteCount = CInt(tag.count)
        if !encrypts {
            guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tagByteCount, &tag) == 1 else { throw .failed }
        }
        var isDone = false
        let output = [UInt8](unsafeUninitializedCapacity: message.count) { output, count in
            var (written, rest): (CInt, CInt) = (0, 0)
            var nothing: UInt8 = 0
            isDone =
                withBytes(of: message) { message in
                    message.isEmpty
                        || EVP_CipherUpdate(context, output.baseAddress, &written, message.octets, CInt(message.count))
                            == 1
                    // The mode adds no padding, so that nothing is written at the end.
                } && EVP_CipherFinal_ex(context, &nothing, &rest) == 1
            count = isDone ? Int(written) : 0
        }
        guard isDone else { throw .failed }
        if encrypts {
            guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tagByteCount, &tag) == 1 else { throw .failed }
        }
        return output
    }
}
