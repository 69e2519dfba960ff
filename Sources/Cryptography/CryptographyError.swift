/// Why something could not be encrypted, decrypted, signed or read.
///
/// No case says anything about a key or a message.
package enum CryptographyError: Error, Hashable {
    /// This machine's libcrypto lacks an algorithm, such as MD5 where only those of FIPS are on.
    case missing(String)
    /// A key, an initialization vector or a message has a length that can't be used.
    case length
    /// libcrypto refused, or the message does not fit to the key.
    case failed
    /// The text is not a key in PEM, or it is encrypted with a password.
    case keyUnreadable
    /// The key is for another algorithm, or too short for this one.
    case keyUnsuitable
}

extension CryptographyError: CustomStringConvertible {
    /// One sentence for a log.
    package var description: String {
        switch self {
        case .missing(let name): "this machine's OpenSSL has no \(name), which Selfie needs; is it restricted to FIPS?"
        case .length: "a key, an initialization vector or a message has a wrong length"
        case .failed: "the cryptographic operation failed"
        case .keyUnreadable: "the key is not in PEM, or it is encrypted with a password"
        case .keyUnsuitable: "the key is for another algorithm, or it is too short"
        }
    }
}
