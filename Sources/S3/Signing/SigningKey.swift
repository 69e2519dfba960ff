import Crypto
import Encodings

/// Step 3 of Signature Version 4: the key of one day, region and service, derived from the secret.
///
/// Source: AWS, "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk".
struct SigningKey: Sendable {
    private let key: SymmetricKey

    init(secretAccessKey: String, day: String, region: String) {
        var key = SymmetricKey(data: Array("AWS4\(secretAccessKey)".utf8))
        for part in [day, region, "s3", "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
        }
        self.key = key
    }

    /// The signature, 64 lower-case hexadecimal digits.
    func signature(of stringToSign: StringToSign) -> String {
        HMAC<SHA256>.authenticationCode(for: Array(stringToSign.text.utf8), using: key).hexadecimal
    }
}
