import Encodings

/// Which changes a client wants.
package struct ChangeQuery: Sendable {
    /// Where a client begins.
    package enum Start: Sendable, Equatable {
        /// With all that it may see.
        case beginning
        /// With what changes from now on.
        case now
        /// After what it has received.
        case after(ChangeCursor)
        /// After a cursor of an older version, which can't be read.
        case unreadable

        var cursor: ChangeCursor? { if case .after(let cursor) = self { cursor } else { nil } }

        /// - Parameter text: A cursor, also one of an older version, or `now`; nil for what is neither.
        package init?(_ text: String) {
            if text.hasSameBytes(as: "now") {
                self = .now
            } else if let cursor = ChangeCursor(text) {
                self = .after(cursor)
            } else if ChangeCursor.isOfOlderForm(text) {
                self = .unreadable
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

    /// A hash of the names of the collections (FNV-1a, 62 bits), which is not 0; nil for all collections.
    ///
    /// Cursors contain it: a cursor of other collections is not valid for these.
    var filter: Int? {
        guard let collections else { return nil }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for name in collections.sorted() {
            for byte in Array(name.utf8) + [0] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        return Int(hash >> 2) | 1
    }

    /// Takes what is wanted of a stream's changes, and fits; with the number that this leads to, and whether some are left.
    func fitting(_ changes: [Change], to end: Int) -> (changes: [Change], end: Int, hasMore: Bool) {
        var (wanted, bytes): ([Change], Int) = ([], 0)
        for change in changes where collections?.contains(change.collection) ?? true {
            bytes += change.byteCount
            if !wanted.isEmpty, bytes > maxBytes || wanted.count == limit {
                return (wanted, change.position.number - 1, true)
            }
            wanted.append(change)
        }
        return (wanted, end, false)
    }
}
