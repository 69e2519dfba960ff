import Cryptography
import FoundationEssentials

/// The message format of AESCrypt, an Objective-C pod and Ruby gem, which transports passwords.
///
/// A message travels as `base64(AES-256-CBC(PKCS#7 padding, key = SHA-256(passphrase as UTF-8), IV = 16 zero bytes))`.
/// Anyone with the app can read such a password, and nothing checks its integrity. TLS protects it on its way.
///
/// Source: `AESCrypt.m` of the pod AESCrypt-ObjC and `aescrypt.rb` of the gem aescrypt.
package struct AESCrypt: Sendable {
    private let cipher: AESCBC

    /// - Parameter passphrase: The API's password, which app and server share.
    package init(passphrase: String) {
        let key = SHA256.hash(passphrase.utf8).withUnsafeBytes { SecretBytes($0) }
        do {
            cipher = try AESCBC(key: key, iv: [UInt8](repeating: 0, count: 16))
        } catch {
            preconditionFailure("a SHA-256 digest has the length of a key")
        }
    }

    /// Encrypts a message.
    ///
    /// - Parameter message: The bytes to encrypt, any number.
    /// - Returns: Base64 with padding and without line breaks, as the pod writes it.
    /// - Throws: `AESCryptError` when the cipher fails, which it does for no message.
    package func encrypt(_ message: some Collection<UInt8>) throws(AESCryptError) -> String {
        do {
            return Data(try cipher.encrypt(message)).base64EncodedString()
        } catch {
            throw AESCryptError()
        }
    }

    /// Decrypts a message.
    ///
    /// White space and missing padding are accepted: the gem wraps its base64 at 60 characters, and others leave the
    /// padding out.
    ///
    /// - Parameter text: What `encrypt` wrote, or the gem, or the pod.
    /// - Returns: The message's bytes.
    /// - Throws: `AESCryptError`, which does not say what was wrong: that would be a padding oracle.
    package func decrypt(_ text: String) throws(AESCryptError) -> [UInt8] {
        do {
            return try cipher.decrypt(try Self.decodeBase64(text))
        } catch {
            throw AESCryptError()
        }
    }

    static func decodeBase64(_ text: String) throws(AESCryptError) -> Data {
        var digits = text.utf8.filter { ![0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20].contains($0) }
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        digits += [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(digits)) else { throw AESCryptError() }
        return data
    }
}

/// A message that is not AESCrypt's, or was encrypted with another passphrase.
package struct AESCryptError: Error, Equatable {
    package init() {}
}
