import Foundation

/// Whether the system has told of all that happened while the app did not run.
final class BackgroundEvents: Sendable {
    private struct State {
        /// They have ended, and nobody has waited for that yet.
        var haveEnded = false
        var waiters: [UUID: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Waits until they have ended since the last wait, or the task is cancelled.
    ///
    /// The system may wake the app many times, and tells of each time's events apart.
    func waitForEnd() async {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled { return true }
                    if state.haveEnded {
                        state.haveEnded = false
                        return true
                    }
                    state.waiters[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }

    /// The system has told of all.
    func end() {
        let waiters = state.withLock { state in
            let waiters = state.waiters
            (state.haveEnded, state.waiters) = (waiters.isEmpty, [:])
            return waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }
}
