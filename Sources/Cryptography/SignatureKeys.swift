import CLibCrypto

/// A key that libcrypto has read.
package final class KeyHandle: Sendable {
    private nonisolated(unsafe) let key: OpaquePointer

    private init(_ key: OpaquePointer) { self.key = key }

    /// Frees the key, which clears it.
    deinit { EVP_PKEY_free(key) }

    /// - Throws: ``CryptographyError/keyUnreadable``.
    static func read(privateKey pem: some Collection<UInt8>) throws(CryptographyError) -> KeyHandle {
        // Without a callback, libcrypto would ask a terminal for the password of an encrypted key.
        try read(pem) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    }

    /// - Throws: ``CryptographyError/keyUnreadable``.
    static func read(publicKey pem: some Collection<UInt8>) throws(CryptographyError) -> KeyHandle {
        try read(pem) { PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in -1 }, nil) }
    }

    private static func read(
        _ pem: some Collection<UInt8>,
        by parse: (OpaquePointer) -> OpaquePointer?
    ) throws(CryptographyError) -> KeyHandle {
        defer { ERR_clear_error() }
        let key = withBytes(of: pem) { pem -> OpaquePointer? in
            guard pem.count <= Int(CInt.max), let source = BIO_new_mem_buf(pem.baseAddress, CInt(pem.count)) else {
                return nil
            }
            defer { BIO_free(source) }
            return parse(source)
        }
        guard let key else { throw .keyUnreadable }
        return KeyHandle(key)
    }

    var isRSA: Bool { EVP_PKEY_is_a(key, "RSA") == 1 }

    var bitCount: Int { Int(EVP_PKEY_get_bits(key)) }

    var isOnP256: Bool {
        guard EVP_PKEY_is_a(key, "EC") == 1 else { return false }
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
        return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self) == "prime256v1"
    }

    /// Signs, in libcrypto's form.
    func signature(of message: UnsafeRawBufferPointer) -> [UInt8]? {
        withContext { context in
            guard EVP_DigestSignInit(context, nil, DigestAlgorithm.sha256.fetched, nil, key) == 1 else { return nil }
            var count = 0
            guard EVP_DigestSign(context, nil, &count, message.octets, message.count) == 1 else { return nil }
            var isSigned = false
            let signature = [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
                isSigned = EVP_DigestSign(context, buffer.baseAddress, &count, message.octets, message.count) == 1
                size = isSigned ? count : 0
            }
            return isSigned ? signature : nil
        }
    }

    /// Checks a signature of libcrypto's form.
    func isSignature(_ signature: [UInt8], of message: UnsafeRawBufferPointer) -> Bool {
        let isRight: Bool? = withContext { context in
            guard EVP_DigestVerifyInit(context, nil, DigestAlgorithm.sha256.fetched, nil, key) == 1 else { return nil }
            return EVP_DigestVerify(context, signature, signature.count, message.octets, message.count) == 1
        }
        return isRight ?? false
    }

    private func withContext<Result>(_ body: (OpaquePointer) -> Result?) -> Result? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return body(context)
    }
}

/// A key that signs.
package struct PrivateKey<Algorithm: SignatureAlgorithm>: Sendable {
    private let handle: KeyHandle

    /// Reads a key.
    ///
    /// - Parameter pem: PKCS #8 or the algorithm's own form, in PEM (RFC 7468), without a password.
    /// - Throws: ``CryptographyError/keyUnreadable`` or ``CryptographyError/keyUnsuitable``.
    package init(pem: some Collection<UInt8>) throws(CryptographyError) {
        handle = try KeyHandle.read(privateKey: pem)
        guard Algorithm.accepts(handle) else { throw .keyUnsuitable }
    }

    /// Signs a message.
    ///
    /// - Throws: ``CryptographyError/failed``.
    package func signature(of message: some Collection<UInt8>) throws(CryptographyError) -> [UInt8] {
        let signature = withBytes(of: message) { handle.signature(of: $0) }
        guard let encoded = signature.flatMap(Algorithm.encoded) else { throw .failed }
        return encoded
    }
}

/// A key that checks signatures.
package struct PublicKey<Algorithm: SignatureAlgorithm>: Sendable {
    private let handle: KeyHandle

    /// Reads a key.
    ///
    /// - Parameter pem: `SubjectPublicKeyInfo` in PEM (RFC 7468, section 13).
    /// - Throws: ``CryptographyError/keyUnreadable`` or ``CryptographyError/keyUnsuitable``.
    package init(pem: some Collection<UInt8>) throws(CryptographyError) {
        handle = try KeyHandle.read(publicKey: pem)
        guard Algorithm.accepts(handle) else { throw .keyUnsuitable }
    }

    /// Whether a signature is of this message and this key.
    package func isSignature(_ signature: [UInt8], of message: some Collection<UInt8>) -> Bool {
        guard let decoded = Algorithm.decoded(signature) else { return false }
        return withBytes(of: message) { handle.isSignature(decoded, of: $0) }
    }
}

extension PrivateKey: CustomStringConvertible, CustomReflectable {
    /// Only the type's name.
    package var description: String { "PrivateKey(redacted)" }

    /// A mirror without children, so that `dump` and reflecting loggers find nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
