import Algorithms
import DequeModule
import FoundationEssentials

/// A stream that readers of this process follow, and its last changes, which are read once for all of them.
struct FollowedStream {
    var readers: Set<ChangeListener> = []
    private(set) var epoch: ChangeEpoch
    /// Up to where it was read.
    private(set) var position: ChangeCursor.Position
    /// All changes after the number `since`, up to the position; each record once, at its last position.
    private(set) var changes: Deque<Change> = []
    /// The numbers of these changes, by what has changed.
    private var numbers: [Change.Key: Int] = [:]
    private(set) var since: Int
    /// About how many bytes the changes take.
    private(set) var byteCount = 0

    /// About the most bytes of changes in memory, for readers who are slower than others.
    static let maxBytes = 1 << 20

    /// A stream without changes in memory, at the end that a reader has read.
    init(epoch: ChangeEpoch, end: StreamEnd) {
        self.epoch = epoch
        position = ChangeCursor.Position(number: end.number, end: end, begun: nil)
        since = end.number
    }

    /// Drops all changes, and begins at another end.
    mutating func restart(at end: StreamEnd, epoch: ChangeEpoch) {
        let readers = readers
        self = FollowedStream(epoch: epoch, end: end)
        self.readers = readers
    }

    /// Drops all changes: readers who are behind query the database themselves.
    mutating func forget() {
        (changes, numbers, byteCount, since) = ([], [:], 0, position.number)
    }

    /// Adds the next changes, and drops the oldest if there are too many.
    mutating func append(_ added: [Change], to number: Int, end: StreamEnd) {
        for change in added {
            if let number = numbers.updateValue(change.position.number, forKey: change.key) {
                byteCount -= changes.remove(at: index(after: number - 1)).byteCount
            }
            changes.append(change)
            byteCount += change.byteCount
        }
        position = ChangeCursor.Position(number: number, end: end, begun: nil)
        while byteCount > Self.maxBytes {
            let oldest = changes.removeFirst()
            numbers[oldest.key] = nil
            (byteCount, since) = (byteCount - oldest.byteCount, oldest.position.number)
        }
    }

    /// The index of the first change after a number.
    private func index(after number: Int) -> Int {
        changes.partitioningIndex { $0.position.number > number }
    }

    /// The changes in memory for a reader, which may be none; nil if the reader must query the database itself.
    func next(of id: Int, after reader: ChangeBatch, for query: ChangeQuery, at time: Date) -> ChangeBatch? {
        let cursor = reader.end
        guard epoch == cursor.epoch, let number = cursor.positions[id]?.number, number >= since else { return nil }
        // A reader that has queried the database itself may be ahead.
        guard number < position.number else { return reader.position }
        // What ended before a reader began is not sent to it. That is known only where the cache has all up to the end.
        guard number > 0 || position.number == position.end.number else { return nil }
        // The reader never received what ended before it began.
        let elsewhere = reader.access.shownElsewhere[id] ?? []
        let news = changes[index(after: number)...].filter {
            ($0.content != nil || $0.position.number > cursor.begun(in: id)) && !elsewhere.contains($0.collection)
        }
        // A record that is still there for others may be shown by another stream of the reader's.
        guard news.allSatisfy({ $0.content != nil || $0.isDeleted }) else { return nil }
        // A later change reports that a record has expired.
        let shown = news.filter { !$0.hasExpired(at: time) }.map { $0.seen(from: cursor) }
        let (fitting, reached, hasMore) = query.fitting(shown, to: position.number)
        var end = cursor
        end.move(id, to: reached, end: position.end)
        return ChangeBatch(changes: fitting, from: cursor, to: end, hasMore: hasMore, access: reader.access)
    }
}
