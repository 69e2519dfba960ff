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
package struct PasswordCipher: Sendable {
    private enum Direction { case encrypting, decrypting }

    private static let blockByteCount = 16
    private let key: Data

    /// - Parameter passphrase: The password of the API's credential.
    package init(passphrase: String) { key = SHA256.digest(of: Data(passphrase.utf8)) }

    /// Encrypts a password.
    ///
    /// - Returns: Base64 without line breaks.
    /// - Throws: ``SelfieError/storage(_:)`` if the system has no such cipher.
    func encrypt(_ password: String) throws -> String {
        guard let encrypted = run(.encrypting, Array(password.utf8)) else {
            throw SelfieError.storage("The system can't encrypt.")
        }
        return Data(encrypted).base64EncodedString()
    }

    /// Decrypts a password, as the service does.
    ///
    /// - Parameter text: Base64, also with line breaks.
    /// - Returns: The password; nil if the text is none that was encrypted with this key.
    package func decrypt(_ text: String) -> String? {
        guard let message = Data(base64Encoded: text, options: .ignoreUnknownCharacters), !message.isEmpty else {
            return nil
        }
        return run(.decrypting, Array(message)).flatMap { String(bytes: $0, encoding: .utf8) }
    }

    private func run(_ direction: Direction, _ message: [UInt8]) -> [UInt8]? {
        let key = Array(key)
        let iv = [UInt8](repeating: 0, count: Self.blockByteCount)
        var result = [UInt8](repeating: 0, count: message.count + Self.blockByteCount)
        #if canImport(CommonCrypto)
            var count = 0
            let status = CCCrypt(
                CCOperation(direction == .encrypting ? kCCEncrypt : kCCDecrypt),
                CCAlgorithm(kCCAlgorithmAES),
                CCOptions(kCCOptionPKCS7Padding),
                key,
                key.count,
                iv,
                message,
                message.count,
                &result,
                result.count,
                &count
            )
            guard status == kCCSuccess else { return nil }
            return Array(result.prefix(count))
        #else
            guard let context = EVP_CIPHER_CTX_new() else { return nil }
            defer { EVP_CIPHER_CTX_free(context) }
            var (count, last): (Int32, Int32) = (0, 0)
            guard
                EVP_CipherInit_ex(context, EVP_aes_256_cbc(), nil, key, iv, direction == .encrypting ? 1 : 0) == 1,
                EVP_CipherUpdate(context, &result, &count, message, Int32(message.count)) == 1,
                result.withUnsafeMutableBytes({ bytes in
                    let end = bytes.baseAddress?.advanced(by: Int(count)).assumingMemoryBound(to: UInt8.self)
                    return EVP_CipherFinal_ex(context, end, &last)
                }) == 1
            else { return nil }
            return Array(result.prefix(Int(count + last)))
        #endif
    }
}
