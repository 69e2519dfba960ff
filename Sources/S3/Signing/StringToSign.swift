import Cryptography
import Encodings

/// Step 2 of Signature Version 4: the date, the scope and the canonical request's hash.
///
/// Source: AWS, "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk".
struct StringToSign: Sendable, Hashable {
    /// Where and when the signature holds: `20130524/us-east-1/s3/aws4_request`.
    let scope: String
    /// The canonical request's SHA-256, in hexadecimal.
    let canonicalRequestHash: String
    /// The whole string to sign: four lines joined by `\n`.
    let text: String

    init(_ canonicalRequest: CanonicalRequest, at time: SigningTime, region: String) {
        scope = Self.scope(at: time, region: region)
        canonicalRequestHash = SHA256.hash(Array(canonicalRequest.text.utf8)).hexadecimal
        text = [Signer.algorithm, time.timestamp, scope, canonicalRequestHash].joined(separator: "\n")
    }

    static func scope(at time: SigningTime, region: String) -> String {
        "\(time.day)/\(region)/s3/aws4_request"
    }
}
