import Cryptography
import Encodings

/// Step 3 of Signature Version 4: the key of one day, region and service, derived from the secret.
///
/// Source: AWS, "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk".
struct SigningKey: Sendable {
    private let key: HMACSHA256

    init(secretAccessKey: String, day: String, region: String) {
        var key = HMACSHA256(key: "AWS4\(secretAccessKey)".utf8)
        for part in [day, region, "s3", "aws4_request"] {
            key = key.code(of: part.utf8).withUnsafeBytes { HMACSHA256(key: $0) }
        }
        self.key = key
    }

    /// The signature, 64 lower-case hexadecimal digits.
    func signature(of stringToSign: StringToSign) -> String {
        key.code(of: stringToSign.text.utf8).hexadecimal
    }
}
