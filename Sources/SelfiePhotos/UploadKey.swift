import Cryptography

/// A key that a client chose for an upload, so that the same upload, sent again, makes no second photo.
///
/// Source: draft-ietf-httpapi-idempotency-key-header-07. Quotes around the key are part of it.
package struct UploadKey: Sendable {
    /// SHA-256 of the key: as short in the index for each key.
    let digest: [UInt8]

    /// The most bytes of a key.
    package static let maxBytes = 255

    /// - Parameter text: The key; nil unless it is 1 to ``maxBytes`` visible characters of ASCII.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard (1...Self.maxBytes).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        digest = Array(SHA256.hash(bytes))
    }
}

/// The photo that an upload with a key has made, or is making.
enum KeyedUpload: Sendable {
    /// The photo is stored, and was made of what has this digest.
    case stored(StoredPhoto, digest: [UInt8])
    /// It is not stored yet, or its process has ended.
    case underWay
    /// It was stored, and then deleted.
    case deleted
}
