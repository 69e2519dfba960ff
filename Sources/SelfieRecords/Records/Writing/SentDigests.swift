import Crypto
import Encodings
import JSON
import RecordSchema
import Secrets

/// Makes the digests by which a message that is sent again is known, after it was changed or deleted, too.
///
/// They are keyed, so that nobody who reads the database can guess a short message by its digest.
struct SentDigests: Sendable {
    private let authenticator: MessageAuthenticator

    init(secret: String) {
        authenticator = MessageAuthenticator(key: Array("sent records\0\(secret)".utf8))
    }

    /// The digest of a message, 64 hexadecimal digits.
    ///
    /// The order of members and the form of numbers make no difference.
    func digest(of data: JSONValue, id: String, to recipient: String) -> String {
        let message = Array("\(recipient)\0\(id)\0\(data.canonicalText)".utf8)
        return authenticator.code { $0.update(data: message) }.withUnsafeBytes { $0.hexadecimal }
    }
}
