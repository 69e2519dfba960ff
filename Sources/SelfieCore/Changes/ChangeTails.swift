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
    private let readings = ChangeHub.line(places: readingsAtOnce)

    /// The streams that are read at the same time.
    ///
    /// Others wait, so that calls find connections.
    private static let readingsAtOnce = 2
    /// The most changes that are kept of a stream.
    private static let maxCount = 256
    /// About the most bytes that are kept of a stream.
    private static let maxBytes = 256 << 10

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
            case .done(let changes, let end, let hasMore):
                // The bell tells of an end by itself later.
                let time = now()
                return changes.allSatisfy { !$0.hasExpired(at: time) } ? (changes, end, hasMore) : nil
            // Who reads alone learns why it failed.
            case .wait(let reading): if await !reading.value { return nil }
            }
        }
    }

    fileprivate enum Step {
        case alone
        case done(changes: [Change], end: ChangeCursor, hasMore: Bool)
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
        let turn = try await readings.enter(FairLine.Claimant(group: "\(stream)", member: ""))
        defer { withExtendedLifetime(turn) {} }
        let begun = state.withLock { state in
            state.tails[stream].map { (cursor: $0.end, count: $0.changeCount) }
        }
        guard let begun else { return }
        let batch = try await store.read(
            ChangeQuery(collections: nil, limit: Self.maxCount, maxBytes: Self.maxBytes),
            from: .after(begun.cursor),
            by: ChangeReader(ofStream: stream)
        )
        state.withLock { state in
            guard var tail = state.tails[stream] else { return }
            tail.append(batch.changes)
            tail.end = batch.end
            (tail.readCount, tail.hasMore) = (begun.count, batch.hasMore)
            tail.reading = nil
            tail.forget(beyond: Self.maxCount, bytes: Self.maxBytes)
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
        // The tail is old. It begins anew at this reader's place.
        if tail.reading == nil, position > tail.end.positions[stream] ?? 0 {
            tail = ChangeTails.Tail(start: position, end: start)
        }
        let end = tail.end.positions[stream] ?? 0
        // A tail that was begun anew counts from the beginning.
        let wanted = min(wantedCount ?? .max, tail.changeCount)
        wantedCount = wanted
        guard tail.readCount >= wanted, !tail.hasMore || position < end else {
            let reading = tail.reading ?? read()
            tail.reading = reading
            tails[stream] = tail
            return .wait(reading)
        }
        guard position >= tail.start, position <= end, tail.end.agrees(with: cursor) else { return .alone }
        // Who has seen nothing of the stream has nothing that could be gone.
        let changes = tail.changes.filter { $0.place.number > position && ($0.content != nil || position > 0) }
        // A record that goes on elsewhere may be shown by another stream of the reader's.
        guard changes.allSatisfy({ $0.content != nil || $0.isGone }) else { return .alone }
        return .done(changes: changes.map { $0.seen(from: position) }, end: tail.end, hasMore: tail.hasMore)
    }
}
