import Synchronization

/// A reader that waits until something changes that it may see.
final class ChangeListener: Sendable {
    /// Why a reader goes on.
    struct Wake: Sendable, Equatable {
        /// Whether what the user may see has changed.
        var needsRead = false
        /// The streams that have changed.
        var changed: Set<Int> = []
        /// Whether the process ends.
        var isStopping = false
        /// When the first of these happened.
        var time: ContinuousClock.Instant?

        var isNothing: Bool { self == Wake() }

        /// Adds what another one says of changes.
        mutating func formUnion(_ other: Wake) {
            needsRead = needsRead || other.needsRead
            changed.formUnion(other.changed)
        }
    }

    fileprivate struct State {
        var wake = Wake()
        var waiting: CheckedContinuation<Wake, Never>?
        var deadline: ContinuousClock.Instant?
        /// The first time for which a reminder was asked for.
        var reminder: ContinuousClock.Instant?
        var positions: [Int: Int] = [:]
        var schemaVersion = 0
        var mark = 0
    }

    let userID: Int
    let sessionID: Int?
    private let state = Mutex(State())

    init(userID: Int, sessionID: Int?) {
        self.userID = userID
        self.sessionID = sessionID
    }

    /// Where the reader is in each of its streams.
    var positions: [Int: Int] {
        get { state.withLock { $0.positions } }
        set { state.withLock { $0.positions = newValue } }
    }

    /// The schema that the reader has read with.
    var schemaVersion: Int { state.withLock { $0.schemaVersion } }

    /// The mark of the start of PostgreSQL that the reader has read under.
    var mark: Int { state.withLock { $0.mark } }

    /// Notes what the reader has read.
    func move(to batch: ChangeBatch) {
        state.withLock { state in
            (state.positions, state.mark) = (batch.end.positions, batch.end.mark)
            state.schemaVersion = batch.schemaVersion
        }
    }

    /// Waits until something changes, or until a time.
    ///
    /// - Parameters:
    ///   - deadline: The time.
    ///   - remind: Asks that ``remind(at:)`` is called when the time has come.
    /// - Returns: What has changed since the last call; nothing when the time has come, or the task is cancelled.
    func next(until deadline: ContinuousClock.Instant, remind: () -> Void) async -> Wake {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (wake, needsReminder) = state.withLock { state -> (Wake?, Bool) in
                    guard state.wake.isNothing, !Task.isCancelled else { return (state.take(), false) }
                    (state.waiting, state.deadline) = (continuation, deadline)
                    return (nil, state.setReminder(at: deadline))
                }
                if let wake { continuation.resume(returning: wake) }
                if needsReminder { remind() }
            }
        } onCancel: {
            resume { _ in true }
        }
    }

    /// What has changed since the last call, without waiting.
    func pending() -> Wake {
        state.withLock { $0.take() }
    }

    /// Wakes the reader, or has it not wait the next time.
    func wake(_ change: (inout Wake) -> Void) {
        resume { state in
            change(&state.wake)
            state.wake.time = state.wake.time ?? .now
            return true
        }
    }

    /// Wakes the reader if its time has come.
    ///
    /// - Parameter time: The time now.
    /// - Returns: When to call this again; nil where the reader asks for that itself.
    func remind(at time: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let isNoted = state.withLock { state in
            guard let reminder = state.reminder, reminder <= time else { return false }
            state.reminder = nil
            return true
        }
        // Another reminder has taken the place of this one.
        guard isNoted else { return nil }
        resume { state in state.deadline.map { $0 <= time } ?? false }
        return state.withLock { state in
            state.deadline.flatMap { state.setReminder(at: $0) ? $0 : nil }
        }
    }

    private func resume(_ decide: (inout State) -> Bool) {
        let resumed = state.withLock { state -> (CheckedContinuation<Wake, Never>, Wake)? in
            guard decide(&state), let waiting = state.waiting else { return nil }
            return (waiting, state.take())
        }
        if let (continuation, wake) = resumed { continuation.resume(returning: wake) }
    }
}

extension ChangeListener.State {
    /// Notes that a reminder is asked for; false where one comes before.
    fileprivate mutating func setReminder(at time: ContinuousClock.Instant) -> Bool {
        if let reminder, reminder <= time { return false }
        reminder = time
        return true
    }

    /// What has changed, which is told once.
    fileprivate mutating func take() -> ChangeListener.Wake {
        (waiting, deadline) = (nil, nil)
        defer { wake = ChangeListener.Wake() }
        return wake
    }
}
