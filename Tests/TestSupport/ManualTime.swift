import Concurrency
import ServerProcesses
import Synchronization

/// A clock for deadlines and pauses that stands still unless a test moves it.
package final class ManualTime: MonotonicClock {
    private struct State {
        var elapsed: Duration = .zero
        var sleepers: [Int: Sleeper] = [:]
        var nextID = 0
    }

    private struct Sleeper {
        let alarm: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    package init() {}

    /// How far it was moved.
    package var elapsed: Duration { state.withLock { $0.elapsed } }

    /// The present.
    package var now: ContinuousClock.Instant { start + elapsed }

    /// When those who sleep are to wake, counted from the start, in order.
    package var alarms: [Duration] { state.withLock { $0.sleepers.values.map(\.alarm).sorted() } }

    package let minimumResolution: Duration = .nanoseconds(1)

    /// Waits until the time was moved so far.
    ///
    /// - Parameters:
    ///   - instant: When to wake.
    ///   - tolerance: Not used.
    /// - Throws: `CancellationError`.
    package func sleep(until instant: ContinuousClock.Instant, tolerance: Duration? = nil) async throws {
        let alarm = start.duration(to: instant)
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<Void, any Error>? = state.withLock { state in
                    // The handler runs before this, or finds the sleeper: it needs the lock too.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if alarm <= state.elapsed { return .success(()) }
                    state.sleepers[id] = Sleeper(alarm: alarm, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Sets the time forward, and wakes all sleepers that are due.
    ///
    /// - Parameter elapsed: Counted from the start.
    package func move(to elapsed: Duration) {
        let woken = state.withLock { state in
            state.elapsed = max(state.elapsed, elapsed)
            let due = state.sleepers.filter { $0.value.alarm <= state.elapsed }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Sets the time forward by so long.
    package func advance(by duration: Duration) { move(to: elapsed + duration) }

    /// Sets the time to the first alarm, if there is one.
    ///
    /// Use it with ``whilePassing(_:_:)`` where alarms may be set, or put off, after the time was moved.
    package func ringFirst() {
        if let alarm = alarms.first { move(to: alarm) }
    }

    /// Waits until somebody sleeps until then.
    ///
    /// - Parameter alarm: Counted from the start.
    /// - Throws: `NotInTime`.
    package func awaitAlarm(at alarm: Duration) async throws {
        try await poll("somebody sleeps until \(alarm)") { alarms.contains(alarm) }
    }

    /// Waits until somebody sleeps until then, and sets the time to it.
    ///
    /// What happens beside it, such as a sign of life, may come before or after that, and put the alarm off. Then
    /// nobody would move the time again: use ``ringFirst()``.
    ///
    /// - Parameter alarm: Counted from the start.
    /// - Throws: `NotInTime`.
    package func ring(_ alarm: Duration) async throws {
        try await awaitAlarm(at: alarm)
        move(to: alarm)
    }
}
