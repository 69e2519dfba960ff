import Foundation
import SelfieClient

/// A message as it was sent, whatever has become of it.
///
/// No answer tells its sender what the recipient has done.
struct SentMessage: Sendable {
    let ownerID: String
    let data: [String: JSONValue]
    let createdAt: Date
    let expiresAt: Date?

    /// The message as its sender sees it.
    func message(_ key: ItemKey) -> StoredRecord {
        StoredRecord(
            key: key,
            data: data,
            ownerID: ownerID,
            readers: [],
            writers: [],
            version: 1,
            createdAt: createdAt,
            updatedAt: createdAt,
            expiresAt: expiresAt
        )
    }
}
