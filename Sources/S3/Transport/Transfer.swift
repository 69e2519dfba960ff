import Synchronization

/// What one try's tasks tell each other: when the store last gave a sign of life, and how the body's source failed.
final class Transfer: Sendable {
    private let state: Mutex<State>

    private struct State {
        var lastSignOfLife: ContinuousClock.Instant
        var sourceError: (any Error)?
    }

    init() {
        state = Mutex(State(lastSignOfLife: .now))
    }

    var lastSignOfLife: ContinuousClock.Instant {
        state.withLock { $0.lastSignOfLife }
    }

    var sourceError: (any Error)? {
        state.withLock { $0.sourceError }
    }

    func noteSignOfLife() {
        state.withLock { $0.lastSignOfLife = .now }
    }

    /// Keeps the source's own error, which the HTTP client would otherwise mix with the network's.
    func noteSourceFailed(_ error: any Error) {
        state.withLock { $0.sourceError = error }
    }
}
