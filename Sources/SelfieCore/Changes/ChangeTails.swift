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
        /// Whether it succeeds.
        var reading: Task<Bool, Never>?
    }

    fileprivate struct State {
        var tails: [Int: Tail] = [:]
    }

    private let store: ChangeStore
    private let state = Mutex(State())

    /// The most changes that are kept of a stream.
    private static let maxCount = 256
    /// About the most bytes that are kept of a stream.
    private static let maxBytes = 256 << 10

    init(store: ChangeStore) {
        self.store = store
    }

    /// Notes that a stream has changed.
    func changed(_ stream: Int) {
        state.withLock { $0.tails[stream]?.changeCount += 1 }
    }

    /// The changes of a stream behind a reader's place.
    ///
    /// - Parameters:
    ///   - stream: The stream, of a role or a collection.
    ///   - cursor: Where the reader is. What the reader may see was looked up by then.
    /// - Returns: The changes and where they lead; nil if the reader must read alone.
    func changes(of stream: Int, after cursor: ChangeCursor) async -> (changes: [Change], end: Int)? {
        let position = cursor.positions[stream] ?? 0
        while true {
            let step = state.withLock { state -> Step in
                state.step(stream, position, cursor) { self.reading(of: stream) }
            }
            switch step {
            case .alone: return nil
            case .done(let changes, let end): return (changes, end)
            // Who reads alone learns why it failed.
            case .wait(let reading): if await !reading.value { return nil }
            }
        }
    }

    fileprivate enum Step {
        case alone
        case done(changes: [Change], end: Int)
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
        let begun = state.withLock { state in
            state.tails[stream].map { (cursor: $0.end, count: $0.changeCount) }
        }
        guard let begun else { return }
        let batch = try await store.read(
            ChangeQuery(collections: nil, limit: ChangeQuery.maxLimit),
            from: .after(begun.cursor),
            by: ChangeReader(ofStream: stream)
        )
        state.withLock { state in
            guard var tail = state.tails[stream] else { return }
            tail.changes += batch.changes
            tail.end = batch.end
            // Where more follows, the next reader asks again.
            tail.readCount = batch.hasMore ? 0 : begun.count
            tail.reading = nil
            tail.forget(beyond: Self.maxCount, bytes: Self.maxBytes)
            state.tails[stream] = tail
        }
    }
}

extension ChangeTails.Tail {
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
        read: () -> Task<Bool, Never>
    ) -> ChangeTails.Step {
        var start = cursor
        (start.filter, start.positions) = (0, [stream: position])
        var tail = tails[stream] ?? ChangeTails.Tail(start: position, end: start)
        // Nobody has asked for long. What this reader has need not be read again.
        if tail.reading == nil, position > tail.end.positions[stream] ?? 0 {
            tail = ChangeTails.Tail(start: position, end: start)
        }
        let end = tail.end.positions[stream] ?? 0
        guard tail.readCount == tail.changeCount else {
            let reading = tail.reading ?? read()
            tail.reading = reading
            tails[stream] = tail
            return .wait(reading)
        }
        guard position >= tail.start, position <= end, tail.end.mark == cursor.mark,
            tail.end.clearedVersion == cursor.clearedVersion
        else { return .alone }
        let changes = tail.changes.filter { $0.place.number > position }
        // A record that goes on elsewhere may be shown by another stream of the reader's.
        guard changes.allSatisfy({ $0.content != nil || $0.isGone }) else { return .alone }
        return .done(changes: changes.map { $0.seen(from: position) }, end: end)
    }
}
