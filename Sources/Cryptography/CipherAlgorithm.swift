import CLibCrypto

/// A cipher of libcrypto with keys of 256 bits.
///
/// Each is fetched once, because a fetch searches libcrypto's providers (OpenSSL, "crypto(7)", "Performance").
struct CipherAlgorithm: Sendable {
    /// Nil when libcrypto does not have it, or had no memory.
    private nonisolated(unsafe) let fetched: OpaquePointer?

    static let cbcName = "AES-256-CBC"
    static let gcmName = "AES-256-GCM"
    static let keyByteCount = 32
    static let blockByteCount = 16

    static let cbc = CipherAlgorithm(cbcName)
    static let gcm = CipherAlgorithm(gcmName)

    private init(_ name: String) { fetched = EVP_CIPHER_fetch(nil, name, nil) }

    /// Encrypts or decrypts a message.
    ///
    /// - Parameters:
    ///   - message: Less than 2 GiB.
    ///   - key: 32 bytes.
    ///   - iv: The initialization vector or nonce, as long as the cipher wants it.
    ///   - encrypts: Whether it encrypts.
    ///   - begin: Called before the message, with libcrypto's state.
    ///   - end: Called after the message.
    /// - Returns: The ciphertext or the plain text.
    /// - Throws: ``CryptographyError/failed``, ``CryptographyError/length``.
    func run(
        _ message: some Collection<UInt8>,
        key: SecretBytes,
        iv: [UInt8],
        encrypts: Bool,
        begin: (OpaquePointer) -> Bool = { _ in true },
        end: (OpaquePointer) -> Bool = { _ in true }
    ) throws(CryptographyError) -> [UInt8] {
        guard message.count < Int(CInt.max) - Self.blockByteCount else { throw .length }
        guard let fetched, let context = EVP_CIPHER_CTX_new() else { throw .failed }
        defer {
            EVP_CIPHER_CTX_free(context)
            ERR_clear_error()
        }
        let hasBegun = key.withUnsafeBytes { key in
            iv.withUnsafeBytes { iv in
                EVP_CipherInit_ex2(context, fetched, key.octets, iv.octets, encrypts ? 1 : 0, nil) == 1
            }
        }
        guard hasBegun, begin(context) else { throw .failed }
        var isDone = false
        let output = [UInt8](unsafeUninitializedCapacity: message.count + Self.blockByteCount) { output, count in
            var (written, rest): (CInt, CInt) = (0, 0)
            isDone =
                withBytes(of: message) { message in
                    message.isEmpty
                        || EVP_CipherUpdate(context, output.baseAddress, &written, message.octets, CInt(message.count))
                            == 1
                } && EVP_CipherFinal_ex(context, output.baseAddress.map { $0 + Int(written) }, &rest) == 1
            count = isDone ? Int(written + rest) : 0
        }
        guard isDone, end(context) else { throw .failed }
        return output
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes as libcrypto takes them.
    var octets: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
