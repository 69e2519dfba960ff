import AESCrypt
import Encodings
import Foundation

/// The credentials of the measured service.
enum Credentials {
    static let apiName = "bench"
    static let apiPassword = "bench-api-password"
    static let email = "signer@example.com"
    private static let password = "a password of some length"

    /// The credential that every app holds.
    static var basic: String { "Basic " + Data("\(apiName):\(apiPassword)".utf8).base64EncodedString() }

    /// E-mail and password as a form.
    static func signInForm() throws -> String {
        let encrypted = try AESCrypt(passphrase: apiPassword).encrypt(Array(password.utf8))
        return "email=\(PercentEncoding.string(of: email))&password=\(PercentEncoding.string(of: encrypted))"
    }
}
