import Encodings
package import FoundationEssentials
import RecordSchema
package import SelfiePhotos

/// What happened to a record or a photo, as a reader sees it.
package struct Change: Sendable {
    /// What a reader is to make of it.
    package enum Kind: String, Sendable, CaseIterable {
        /// The reader has not seen it before.
        case created
        case updated
        /// The reader does not see it any more. It may still be there for others.
        case deleted
    }

    /// What is there now.
    package enum Content: Sendable {
        case record(StoredRecord)
        case photo(PhotoRows.Columns, urlSeries: Int)
    }

    package private(set) var kind: Kind
    /// The collection's name; `photos` for photos.
    package let collection: String
    /// The record's id, or the photo's `random_id`.
    package let id: String
    /// Nil for what is deleted.
    package let content: Content?
    /// The stream in which it stands, and its number there.
    let place: (stream: Int, number: Int)
    /// The number since which the stream shows it; 0 where it does not.
    let shownNumber: Int
    /// Whether nobody sees it any more.
    let isGone: Bool

    init(
        collection: String,
        id: String,
        content: Content?,
        place: (stream: Int, number: Int),
        shownNumber: Int,
        isGone: Bool,
        since cursor: ChangeCursor
    ) {
        self.collection = collection
        self.id = id
        self.content = content
        self.place = place
        self.shownNumber = shownNumber
        self.isGone = isGone
        kind = .deleted
        kind = kind(since: cursor)
    }

    /// The same change for a reader at another place of the stream.
    func seen(from cursor: ChangeCursor) -> Change {
        var change = self
        change.kind = kind(since: cursor)
        return change
    }

    private func kind(since cursor: ChangeCursor) -> Kind {
        if content == nil { return .deleted }
        let isNew = shownNumber > cursor.positions[place.stream] ?? 0 || place.number <= cursor.begun(place.stream)
        return isNew ? .created : .updated
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
    var key: [String] { [collection, id] }

    /// Whether it is a record that has ended by itself.
    func hasExpired(at time: Date) -> Bool {
        guard case .record(let record) = content, let end = record.expiresAt else { return false }
        return ISO8601.date(end).map { $0 <= time } ?? true
    }
}

/// Changes that came one after another, and where that leads.
///
/// Whoever waits for hours has handed on many. As values, each would take memory in all functions that wait.
package final class ChangeBatch: Sendable {
    package let changes: [Change]
    /// Where the reader is before the first of them.
    package let start: ChangeCursor
    /// Where the reader is after the last of them, and after all that it has no part in.
    package let end: ChangeCursor
    /// Whether there is more to read at once.
    package let hasMore: Bool
    /// The stream that nobody else reads; 0 for a reader without one.
    let ownStream: Int
    /// The schema that it was read with.
    let schemaVersion: Int
    /// When the reader's session ends; nil for a reader without one.
    package let sessionExpiry: Date?

    init(
        changes: [Change],
        start: ChangeCursor,
        end: ChangeCursor,
        hasMore: Bool,
        ownStream: Int,
        schemaVersion: Int,
        sessionExpiry: Date?
    ) {
        self.changes = changes
        self.start = start
        self.end = end
        self.hasMore = hasMore
        self.ownStream = ownStream
        self.schemaVersion = schemaVersion
        self.sessionExpiry = sessionExpiry
    }

    /// Where the reader is after each of the changes.
    package var cursors: [ChangeCursor] {
        var cursor = start
        var cursors = changes.map { change in
            let stream = change.place.stream
            cursor.move(stream, to: change.place.number, last: end.last(of: stream))
            return cursor
        }
        if !cursors.isEmpty { cursors[cursors.count - 1] = end }
        return cursors
    }
}

/// Why a client must begin again: from where it was, nobody can tell what it has missed.
package enum ChangeReset: String, Error, Sendable, CaseIterable {
    /// The database is another one, or an older state of it, or was started more than fifteen times since.
    case database
    /// The client was away for so long that some of what it missed is forgotten.
    case forgotten
    /// The user has lost a role, or a collection was removed.
    case access
    /// The cursor is of other `collections`.
    case collections
}
