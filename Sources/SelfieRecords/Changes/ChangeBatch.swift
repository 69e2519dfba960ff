import FoundationEssentials

/// Successive changes, and the reader's positions before and after them.
///
/// It is a class: as a value, it would take memory in each suspended function of a reader that waits for hours.
package final class ChangeBatch: Sendable {
    package let changes: [Change]
    /// Where the reader is before the first of them.
    package let start: ChangeCursor
    /// Where the reader is after the last of them, and after all that it may not see or did not ask for.
    package let end: ChangeCursor
    /// Whether there is more to read at once.
    package let hasMore: Bool
    let access: Access

    /// What the reader had access to when all of its streams were read last.
    struct Access: Sendable {
        /// The streams of the user's roles.
        let roleStreams: Set<Int>
        /// The collections of streams, by name, that another one of the reader's streams shows as a whole.
        let shownElsewhere: [Int: Set<String>]
        /// When the session ends; nil for a reader without one.
        let sessionExpiry: Date?
    }

    init(changes: [Change], from start: ChangeCursor, to end: ChangeCursor, hasMore: Bool, access: Access) {
        self.changes = changes
        self.start = start
        self.end = end
        self.hasMore = hasMore
        self.access = access
    }

    /// A batch without changes at the end of this one.
    var position: ChangeBatch { ChangeBatch(changes: [], from: end, to: end, hasMore: false, access: access) }

    /// Where the reader is after each of the changes.
    package var cursors: [ChangeCursor] {
        var cursor = start
        var cursors = changes.map { change in
            let (stream, number) = change.position
            if let position = end.positions[stream] { cursor.move(stream, to: number, end: position.end) }
            return cursor
        }
        if !cursors.isEmpty { cursors[cursors.count - 1] = end }
        return cursors
    }
}
