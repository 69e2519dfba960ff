import Cryptography
import Encodings
import JSON
import RecordSchema

/// Makes digests of sent messages.
///
/// A message that is sent again has the same digest, even if the first one was changed or deleted. Digests are keyed,
/// so that a reader of the database can't guess a short message by its digest.
struct SentDigests: Sendable {
    private let authenticator: HMACSHA256

    init(secret: String) {
        authenticator = HMACSHA256(key: Array("sent records\0\(secret)".utf8))
    }

    /// The digest of a message, 64 hexadecimal digits.
    ///
    /// The order of members and the form of numbers make no difference.
    func digest(of data: JSONValue, id: String, to recipient: String) -> String {
        let message = Array("\(recipient)\0\(id)\0\(data.canonicalText)".utf8)
        return authenticator.code { $0.update(message) }.withUnsafeBytes { $0.hexadecimal }
    }
}
