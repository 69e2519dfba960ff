import Foundation
import SelfieClient

/// Wakes who waits for a change.
final class Bell: Sendable {
    private struct State {
        var count = 0
        var waiters: [UUID: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// How often it has rung.
    var count: Int { state.withLock { $0.count } }

    func ring() {
        let waiters = state.withLock { state in
            state.count += 1
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for the next ring.
    ///
    /// - Parameters:
    ///   - count: How often it had rung when the caller looked.
    ///   - end: When to give up.
    /// - Throws: `CancellationError`.
    func wait(after count: Int, until end: ContinuousClock.Instant) async throws {
        let id = UUID()
        let timer = Task { [weak self] in
            guard (try? await Task.sleep(until: end, clock: .continuous)) != nil else { return }
            self?.wake(id)
        }
        defer { timer.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.count == count, end > .now, !Task.isCancelled else { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            wake(id)
        }
        try Task.checkCancellation()
    }

    private func wake(_ id: UUID) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
}
