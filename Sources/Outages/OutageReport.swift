package import Logging
import Synchronization

/// Tells a failure that lasts when it begins, again for each other reason, and when it is over.
package final class OutageReport: Sendable {
    package enum Change: Sendable, Equatable {
        case failing(reason: String)
        case over
    }

    private let onChange: @Sendable (Change) -> Void
    private let lastReason = Mutex<String?>(nil)

    /// - Parameter onChange: Called under a lock, so that changes are told in their order.
    package init(onChange: @escaping @Sendable (Change) -> Void) {
        self.onChange = onChange
    }

    /// Tells it to a log.
    ///
    /// - Parameters:
    ///   - failing: The line when it fails, which has the reason beside it.
    ///   - over: The line when it works again.
    ///   - logger: The log.
    package convenience init(failing: String, over: String, logger: Logger) {
        self.init { change in
            switch change {
            case .failing(let reason): logger.warning("\(failing)", metadata: ["error": "\(reason)"])
            case .over: logger.notice("\(over)")
            }
        }
    }

    /// It has failed.
    ///
    /// - Parameter reason: Why, without secrets.
    package func failed(_ reason: String) {
        lastReason.withLock { last in
            guard last != reason else { return }
            last = reason
            onChange(.failing(reason: reason))
        }
    }

    /// It has worked.
    package func succeeded() {
        lastReason.withLock { last in
            guard last != nil else { return }
            last = nil
            onChange(.over)
        }
    }
}
