import Encodings

/// Which changes a client wants.
package struct ChangeQuery: Sendable {
    /// Where a client begins.
    package enum Start: Sendable, Equatable {
        /// With all that it may see.
        case beginning
        /// With what changes from now on.
        case now
        /// After what it has got.
        case after(ChangeCursor)

        /// Where nobody knows what was missed.
        package static let unknown = Self.after(ChangeCursor(mark: 0, clearedVersion: 0, filter: 0, positions: [:]))

        /// - Parameter text: A cursor, or `now`; nil for what is neither.
        package init?(_ text: String) {
            if text.hasSameBytes(as: "now") {
                self = .now
            } else if let cursor = ChangeCursor(text) {
                self = .after(cursor)
            } else {
                return nil
            }
        }
    }

    /// The names of the collections whose changes are wanted; nil for all.
    package let collections: Set<String>?
    /// The most changes at once.
    package let limit: Int
    /// The bytes of data after which no more change is added.
    package let maxBytes: Int

    /// The most changes of a page.
    package static let maxLimit = 500
    /// The changes of a page where nothing else is asked for.
    package static let usualLimit = 100
    /// The most collections that may be named.
    package static let maxCollectionCount = 65
    /// The bytes of data after which a page ends.
    package static let maxPageBytes = RecordQuery.maxPageBytes
    /// The same for what a stream of events has read and not yet written.
    package static let maxBatchBytes = 64 << 10

    /// - Parameters:
    ///   - collections: The names of the collections whose changes are wanted; nil for all.
    ///   - limit: The most changes at once, at most ``maxLimit``.
    ///   - maxBytes: The bytes of data after which no more change is added.
    package init(collections: Set<String>?, limit: Int = usualLimit, maxBytes: Int = maxPageBytes) {
        self.collections = collections
        self.limit = limit
        self.maxBytes = maxBytes
    }

    /// Names the collections in cursors (FNV-1a, 62 bits): a cursor of others says nothing of these.
    var filter: Int {
        guard let collections else { return 0 }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for name in collections.sorted() {
            for byte in Array(name.utf8) + [0] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        return Int(hash >> 2) | 1
    }

    /// What is wanted of a stream's changes, and fits.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order of their numbers.
    ///   - end: The number that they lead to.
    ///   - hasMore: Whether there are more.
    /// - Returns: The same for what is left of them.
    func fitting(_ changes: [Change], to end: Int, hasMore: Bool) -> (changes: [Change], end: Int, hasMore: Bool) {
        var (wanted, bytes): ([Change], Int) = ([], 0)
        for change in changes where collections?.contains(change.collection) ?? true {
            bytes += change.byteCount
            if !wanted.isEmpty, bytes > maxBytes || wanted.count == limit {
                return (wanted, change.place.number - 1, true)
            }
            wanted.append(change)
        }
        return (wanted, end, hasMore)
    }
}
