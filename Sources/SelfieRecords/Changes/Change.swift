import Encodings
import FoundationEssentials
import RecordSchema
package import SelfiePhotos

/// What happened to a record or a photo, as a reader sees it.
package struct Change: Sendable {
    /// What is there now.
    package enum Content: Sendable {
        case record(StoredRecord)
        case photo(PhotoRows.Columns, urlSeries: Int)
    }

    package private(set) var kind = ChangeKind.updated
    /// The collection's name; `photos` for photos.
    package let collection: String
    /// The record's id, or the photo's `random_id`.
    package let id: String
    /// Nil for what is deleted.
    package let content: Content?
    /// Its stream, and its number there.
    let position: (stream: Int, number: Int)
    /// The number since which the stream shows it; nil where it does not.
    let shownNumber: Int?
    /// Whether it was deleted for all readers.
    let isDeleted: Bool

    /// The same change for a reader at a position in the stream.
    func seen(from cursor: ChangeCursor) -> Change {
        var change = self
        guard content != nil else {
            change.kind = .deleted
            return change
        }
        let isNew = shownNumber.map { $0 > cursor.number(in: position.stream) } ?? false
        change.kind = isNew || position.number <= cursor.begun(in: position.stream) ? .created : .updated
        return change
    }

    /// The record's version; nil for a photo, and for what is deleted.
    package var version: Int? {
        if case .record(let record) = content { record.version } else { nil }
    }

    /// About how many bytes it takes.
    var byteCount: Int {
        if case .record(let record) = content { Self.usualBytes + record.data.utf8.count } else { Self.usualBytes }
    }

    /// About how many bytes a change takes beside a record's data, with its cursor and a photo's URL.
    static let usualBytes = 512

    /// Names what has changed.
    struct Key: Hashable {
        let collection: String
        let id: String
    }

    var key: Key { Key(collection: collection, id: id) }

    /// Whether it is a record that has expired.
    func hasExpired(at time: Date) -> Bool {
        guard case .record(let record) = content, let end = record.expiresAt else { return false }
        return ISO8601.date(end).map { $0 <= time } ?? true
    }
}
