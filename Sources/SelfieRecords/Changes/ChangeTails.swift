import Algorithms
import Budgets
import FoundationEssentials
import Synchronization

/// The last changes of the streams of roles and collections, read once for all of a process's readers.
final class ChangeTails: Sendable {
    /// What is kept of a stream.
    fileprivate struct Tail {
        /// The number after which nothing is missing.
        var start: Int
        /// Where the last reading has led.
        var end: ChangeCursor
        var changes: [Change] = []
        /// How often the stream has changed since it is kept, and how often it had when it was read.
        var changeCount = 1
        var readCount = 0
        /// Whether there was more to read.
        var hasMore = false
        /// Whether it succeeds.
        var reading: Task<Bool, Never>?
    }

    fileprivate struct State {
        var tails: [Int: Tail] = [:]
    }

    private let store: ChangeStore
    private let now: @Sendable () -> Date
    private let state = Mutex(State())
    private let readings = FairSemaphore("CHANGE_READS", limits: .init(permits: readingsAtOnce))

    /// The streams that are read at the same time.
    ///
    /// Others wait, so that calls find connections.
    private static let readingsAtOnce = 2
    /// The most changes that are read at once.
    fileprivate static let maxReadCount = 256
    /// About the most bytes that are read at once.
    private static let maxReadBytes = 256 << 10
    /// The most changes that are kept of a stream, for readers who are slower than others.
    static let maxKeptCount = 1_024
    /// About the most bytes that are kept of a stream: where many are kept, each has less.
    static let maxKeptBytes = 256 << 10...1 << 20
    /// About the most bytes that are kept of all streams, but for the least of each.
    static let maxTotalBytes = 16 << 20

    init(store: ChangeStore, now: @escaping @Sendable () -> Date) {
        self.store = store
        self.now = now
    }

    /// Notes that a stream has changed.
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - number: The number of its last change, if that is known. What is kept may reach it already.
    func changed(_ stream: Int, to number: Int? = nil) {
        state.withLock { state in
            guard number == nil || state.tails[stream]?.end.positions[stream] != number else { return }
            state.tails[stream]?.changeCount += 1
        }
    }

    /// Lets go of a stream that nobody reads any more.
    ///
    /// No reading of it is under way then: whoever waits for one is a reader.
    func forget(_ stream: Int) {
        state.withLock { $0.tails[stream] = nil }
    }

    /// The changes of a stream behind a reader's place.
    ///
    /// - Parameters:
    ///   - stream: The stream, of a role or a collection.
    ///   - cursor: Where the reader is. What the reader may see was looked up by then.
    /// - Returns: The changes, where they lead, and whether there are more; nil if the reader must read alone.
    func changes(
        of stream: Int,
        after cursor: ChangeCursor
    ) async -> (changes: [Change], end: ChangeCursor, hasMore: Bool)? {
        let position = cursor.positions[stream] ?? 0
        // What changes while the reader waits is read for its next call: others may write faster than this reads.
        var wantedCount: Int?
        while true {
            let step = state.withLock { state -> Step in
                state.step(stream, position, cursor, &wantedCount) { self.reading(of: stream) }
            }
            switch step {
            case .alone: return nil
            case .done(let kept, let end, let hasMore):
                guard let changes = changes(kept, after: cursor) else { return nil }
                return (changes, end, hasMore)
            // Who reads alone learns why it failed.
            case .wait(let reading): if await !reading.value { return nil }
            }
        }
    }

    /// What a reader is told of changes that are kept for all; nil if the reader must read alone.
    private func changes(_ kept: ArraySlice<Change>, after cursor: ChangeCursor) -> [Change]? {
        let time = now()
        // Of what ended before the reader began, the reader has nothing.
        let changes = kept.filter { $0.content != nil || $0.place.number > cursor.begun($0.place.stream) }
        // A record that goes on elsewhere may be shown by another stream of the reader's.
        guard changes.allSatisfy({ $0.content != nil || $0.isGone }) else { return nil }
        // The notifier tells of an end by itself later.
        return changes.filter { !$0.hasExpired(at: time) }.map { $0.seen(from: cursor) }
    }

    fileprivate enum Step {
        case alone
        case done(kept: ArraySlice<Change>, end: ChangeCursor, hasMore: Bool)
        case wait(Task<Bool, Never>)
    }

    private func reading(of stream: Int) -> Task<Bool, Never> {
        Task {
            do {
                try await read(stream)
                return true
            } catch {
                state.withLock { $0.tails[stream] = nil }
                return false
            }
        }
    }

    private func read(_ stream: Int) async throws {
        let turn = try await readings.acquire(for: FairSemaphore.Caller(group: "\(stream)"))
        defer { withExtendedLifetime(turn) {} }
        let begun = state.withLock { state in
            state.tails[stream].map { (cursor: $0.end, count: $0.changeCount) }
        }
        guard let begun else { return }
        let batch = try await store.read(
            ChangeQuery(collections: nil, limit: Self.maxReadCount, maxBytes: Self.maxReadBytes),
            from: .after(begun.cursor),
            by: ChangeReader(ofStream: stream)
        )
        state.withLock { state in
            guard var tail = state.tails[stream] else { return }
            tail.append(batch.changes)
            tail.end = batch.end
            (tail.readCount, tail.hasMore) = (begun.count, batch.hasMore)
            tail.reading = nil
            let share = Self.maxTotalBytes / state.tails.count
            let maxBytes = max(Self.maxKeptBytes.lowerBound, min(share, Self.maxKeptBytes.upperBound))
            tail.forget(beyond: Self.maxKeptCount, bytes: maxBytes)
            state.tails[stream] = tail
        }
    }
}

extension ChangeTails.Tail {
    /// Adds changes.
    ///
    /// Each record is kept once, at its last place.
    fileprivate mutating func append(_ added: [Change]) {
        let keys = Set(added.map(\.key))
        changes.removeAll { keys.contains($0.key) }
        changes += added
    }

    /// Forgets the oldest changes, so that few are kept.
    fileprivate mutating func forget(beyond maxCount: Int, bytes maxBytes: Int) {
        var (bytes, count) = (0, 0)
        for change in changes.reversed() {
            bytes += change.byteCount
            if count == maxCount || bytes > maxBytes { break }
            count += 1
        }
        guard count < changes.count else { return }
        start = changes[changes.count - count - 1].place.number
        changes.removeFirst(changes.count - count)
    }
}

extension ChangeTails.State {
    fileprivate mutating func step(
        _ stream: Int,
        _ position: Int,
        _ cursor: ChangeCursor,
        _ wantedCount: inout Int?,
        read: () -> Task<Bool, Never>
    ) -> ChangeTails.Step {
        let start = cursor.part(of: stream)
        var tail = tails[stream] ?? ChangeTails.Tail(start: position, end: start)
        let lead = position - (tail.end.positions[stream] ?? 0)
        // The tail is old. It begins anew at this reader's place.
        if tail.reading == nil, lead > ChangeTails.maxReadCount || lead > 0 && !tail.end.agrees(with: cursor) {
            tail = ChangeTails.Tail(start: position, end: start)
        }
        let end = tail.end.positions[stream] ?? 0
        // A reader who is ahead has read alone. The tail goes on from where the others are.
        let isAhead = wantedCount == nil && position > end
        // A tail that was begun anew counts from the beginning.
        let wanted = min(wantedCount ?? .max, tail.changeCount)
        wantedCount = wanted
        guard tail.readCount >= wanted, !isAhead, !tail.hasMore || position < end else {
            let reading = tail.reading ?? read()
            tail.reading = reading
            tails[stream] = tail
            return .wait(reading)
        }
        guard position >= tail.start, position <= end, tail.end.agrees(with: cursor) else { return .alone }
        let first = tail.changes.partitioningIndex { $0.place.number > position }
        return .done(kept: tail.changes[first...], end: tail.end, hasMore: tail.hasMore)
    }
}
