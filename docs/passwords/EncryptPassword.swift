import CommonCrypto
import Foundation

/// Encrypts a password for the API.
func encryptPassword(_ password: String, apiPassword: String) throws -> String {
    let (message, passphrase) = (Array(password.utf8), Array(apiPassword.utf8))
    var key = [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH))
    CC_SHA256(passphrase, CC_LONG(passphrase.count), &key)
    let iv = [UInt8](repeating: 0, count: kCCBlockSizeAES128)
    var encrypted = [UInt8](repeating: 0, count: message.count + kCCBlockSizeAES128)
    var count = 0
    let status = CCCrypt(
        CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionPKCS7Padding),
        key, key.count, iv, message, message.count, &encrypted, encrypted.count, &count
    )
    guard status == kCCSuccess else { throw CocoaError(.coderInvalidValue) }
    return Data(encrypted.prefix(count)).base64EncodedString()
}
