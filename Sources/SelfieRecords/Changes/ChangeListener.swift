import Synchronization

/// The news for a reader, and its wait for them.
final class ChangeListener: Sendable {
    /// Why a reader does not wait.
    struct News: Sendable, Equatable {
        /// Whether all streams must be read: what the user may see has changed.
        var needsRead = false
        /// The streams of which the process has read changes.
        var changed: Set<Int> = []
        /// Whether the process ends.
        var isStopping = false
    }

    private struct State {
        var news = News()
        /// When the process learned of the first of these; nil for what was there before the reader came.
        var time: ContinuousClock.Instant?
        var waiting: CheckedContinuation<Void, Never>?
        var deadline: ContinuousClock.Instant?
        var position: ChangeBatch?
    }

    let reader: ChangeReader
    /// The readers of a group are looked at together.
    let group = Int.random(in: 0..<groupCount)
    private let state = Mutex(State())

    /// How many groups there are.
    static let groupCount = 400

    init(_ reader: ChangeReader) {
        self.reader = reader
    }

    /// Where the reader is, as a batch without changes; nil before its first reading.
    var position: ChangeBatch? {
        get { state.withLock { $0.position } }
        set { state.withLock { $0.position = newValue } }
    }

    var news: News { state.withLock { $0.news } }

    /// Takes a stream that has changed; nil where there is none, or where all streams must be read.
    func takeStream() -> (stream: Int, time: ContinuousClock.Instant?)? {
        state.withLock { state in
            guard !state.news.needsRead, let stream = state.news.changed.popFirst() else { return nil }
            defer { if state.news == News() { state.time = nil } }
            return (stream, state.time)
        }
    }

    /// Takes all news, for a reading of all streams; returns when the process learned of the first of them.
    func takeAll() -> ContinuousClock.Instant? {
        state.withLock { state in
            defer { (state.news.needsRead, state.news.changed, state.time) = (false, [], nil) }
            return state.time
        }
    }

    /// Waits until there are news, or until a time; returns at once when the task is cancelled.
    func wait(until deadline: ContinuousClock.Instant) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.news == News(), !Task.isCancelled else { return false }
                    (state.waiting, state.deadline) = (continuation, deadline)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            resume { _ in true }
        }
    }

    /// Adds to the news, of which the process learned at a time, and ends the wait.
    func wake(at time: ContinuousClock.Instant? = .now, _ change: (inout News) -> Void) {
        resume { state in
            if state.news == News() { state.time = time }
            change(&state.news)
            return true
        }
    }

    /// Ends the wait if its time has come.
    func wake(ifDueAt time: ContinuousClock.Instant) {
        resume { state in state.deadline.map { $0 <= time } ?? false }
    }

    private func resume(_ decide: (inout State) -> Bool) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard decide(&state), let waiting = state.waiting else { return nil }
            (state.waiting, state.deadline) = (nil, nil)
            return waiting
        }
        waiting?.resume()
    }
}

extension ChangeListener: Hashable {
    static func == (one: ChangeListener, other: ChangeListener) -> Bool { one === other }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
