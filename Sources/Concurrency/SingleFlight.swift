import Synchronization

/// Does the same work once at a time, however many callers want it.
///
/// The work belongs to no caller: it continues when they give up waiting.
package final class SingleFlight<Key: Hashable & Sendable>: Sendable {
    private struct Flight {
        let task: Task<Void, Never>
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastWaiter: UInt64 = 0
        var isEnded = false
    }

    private let state = Mutex(State())

    package init() {}

    /// How much work is under way.
    package var count: Int { state.withLock { $0.flights.count } }

    /// Begins the work unless it is under way, and waits for its end or for the cancellation of the caller.
    ///
    /// After ``end()``, it returns at once.
    ///
    /// - Parameters:
    ///   - key: Names the work.
    ///   - work: The work.
    package func perform(_ key: Key, _ work: @escaping @Sendable () async -> Void) async {
        let waiter = state.withLock { state -> UInt64? in
            if state.isEnded { return nil }
            state.lastWaiter += 1
            if state.flights[key] == nil {
                // It can't end before this lock is released.
                let task = Task {
                    await work()
                    land(key)
                }
                state.flights[key] = Flight(task: task)
            }
            return state.lastWaiter
        }
        guard let waiter else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // The handler of the cancellation runs before this, or finds the waiter.
                    if Task.isCancelled || state.flights[key] == nil { return true }
                    state.flights[key]?.waiters[waiter] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.flights[key]?.waiters.removeValue(forKey: waiter) }?.resume()
        }
    }

    private func land(_ key: Key) {
        let flight = state.withLock { $0.flights.removeValue(forKey: key) }
        for waiter in (flight?.waiters ?? [:]).values { waiter.resume() }
    }

    /// Cancels all work, waits for its end, and begins no more.
    package func end() async {
        let flights = state.withLock { state in
            state.isEnded = true
            return state.flights
        }
        for flight in flights.values { flight.task.cancel() }
        for flight in flights.values { await flight.task.value }
    }
}
