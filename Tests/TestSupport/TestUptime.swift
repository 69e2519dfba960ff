import Synchronization

/// A clock for durations that stands still unless a test moves it.
package final class TestUptime: Sendable {
    private let time = Mutex(ContinuousClock.now)

    package init() {}

    package var now: ContinuousClock.Instant { time.withLock { $0 } }

    /// Sets the time forward.
    package func advance(by duration: Duration) {
        time.withLock { $0 += duration }
    }
}
