package import Foundation
import Synchronization

/// A time that stands still unless a test moves it.
package final class TestClock: Sendable {
    private let time: Mutex<Date>

    /// - Parameter start: Where it stands at first.
    package init(_ start: Date = Date()) {
        time = Mutex(start)
    }

    /// A clock that stands at noon of today in UTC, so that no test depends on when it runs.
    package static func atNoon() -> TestClock {
        let day: TimeInterval = 24 * 3600
        let today = (Date().timeIntervalSince1970 / day).rounded(.down) * day
        return TestClock(Date(timeIntervalSince1970: today + day / 2))
    }

    package var now: Date { time.withLock { $0 } }

    /// Sets the time forward, or back.
    package func advance(by seconds: TimeInterval) {
        time.withLock { $0 += seconds }
    }
}
