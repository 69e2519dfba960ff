import Foundation

#if canImport(CommonCrypto)
    import CommonCrypto
#else
    import CSelfieCrypto
#endif

/// Encrypts passwords as AESCrypt does: AES-256 in CBC mode with PKCS#7 padding, an initialization vector of zeros, and the
/// SHA-256 digest of the API's password as the key.
///
/// It does not replace TLS. The service expects it of all clients.
struct PasswordCipher: Sendable {
    private static let blockByteCount = 16
    private let key: Data

    /// - Parameter passphrase: The password of the API's credential.
    init(passphrase: String) { key = SHA256.digest(of: Data(passphrase.utf8)) }

    /// - Returns: Base64 without line breaks.
    /// - Throws: ``SelfieError/storage(_:)`` if the system has no such cipher.
    func encrypt(_ password: String) throws -> String {
        let (message, key) = (Array(password.utf8), Array(key))
        let iv = [UInt8](repeating: 0, count: Self.blockByteCount)
        var encrypted = [UInt8](repeating: 0, count: message.count + Self.blockByteCount)
        #if canImport(CommonCrypto)
            var count = 0
            let status = CCCrypt(
                CCOperation(kCCEncrypt),
                CCAlgorithm(kCCAlgorithmAES),
                CCOptions(kCCOptionPKCS7Padding),
                key,
                key.count,
                iv,
                message,
                message.count,
                &encrypted,
                encrypted.count,
                &count
            )
            guard status == kCCSuccess else { throw Self.error }
            return Data(encrypted.prefix(count)).base64EncodedString()
        #else
            guard let context = EVP_CIPHER_CTX_new() else { throw Self.error }
            defer { EVP_CIPHER_CTX_free(context) }
            var (count, last): (Int32, Int32) = (0, 0)
            guard
                EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), nil, key, iv) == 1,
                EVP_EncryptUpdate(context, &encrypted, &count, message, Int32(message.count)) == 1,
                encrypted.withUnsafeMutableBytes({ bytes in
                    let end = bytes.baseAddress?.advanced(by: Int(count)).assumingMemoryBound(to: UInt8.self)
                    return EVP_EncryptFinal_ex(context, end, &last)
                }) == 1
            else { throw Self.error }
            return Data(encrypted.prefix(Int(count + last))).base64EncodedString()
        #endif
    }

    private static let error = SelfieError.storage("The system can't encrypt.")
}
