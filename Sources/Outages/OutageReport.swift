package import Concurrency
package import Logging
import Synchronization

/// Reports when a lasting failure begins, when its reason changes, and when it is over.
///
/// A failure that comes and goes is reported once a minute at most.
package final class OutageReport: Sendable {
    package enum Change: Sendable, Equatable {
        case failing(reason: String)
        case over
    }

    private struct State {
        /// The kind of the failure that was reported and lasts; nil while all is well.
        var kind: String?
        /// The last outage that is over, and when it was.
        var last: (kind: String, end: ContinuousClock.Instant)?
    }

    /// An outage that comes back sooner is reported only once it has lasted this long.
    private static let calm: Duration = .seconds(60)

    private let clock: any MonotonicClock
    private let onChange: @Sendable (Change) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - clock: The clock.
    ///   - onChange: Called under a lock, so that it gets changes in their order.
    package init(
        clock: any MonotonicClock = ContinuousClock(),
        onChange: @escaping @Sendable (Change) -> Void
    ) {
        self.clock = clock
        self.onChange = onChange
    }

    /// Logs the changes.
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

    /// Logs that a regular work fails and will be tried again, and that it works again.
    ///
    /// - Parameters:
    ///   - work: What the work is called, such as "removing expired records".
    ///   - logger: The log.
    package convenience init(of work: String, logger: Logger) {
        self.init(failing: "\(work) fails and will be tried again", over: "\(work) works again", logger: logger)
    }

    /// Does some work, and notes whether it failed.
    ///
    /// Work that the end of the service interrupted did not fail.
    package func watch(_ work: () async throws -> Void) async {
        do {
            try await work()
            if !Task.isCancelled { succeeded() }
        } catch {
            if !Task.isCancelled { failed("\(error)") }
        }
    }

    /// It has failed.
    ///
    /// - Parameters:
    ///   - reason: Why, without secrets.
    ///   - kind: What makes it another failure, where the reason has a part that is never the same; nil for the reason.
    package func failed(_ reason: String, kind: String? = nil) {
        let kind = kind ?? reason
        state.withLock { state in
            guard state.kind != kind else { return }
            if state.kind == nil, let last = state.last, last.kind == kind, clock.now - last.end < Self.calm { return }
            state.kind = kind
            onChange(.failing(reason: reason))
        }
    }

    /// It has worked.
    package func succeeded() {
        state.withLock { state in
            guard let kind = state.kind else { return }
            state.last = (kind, clock.now)
            state.kind = nil
            onChange(.over)
        }
    }
}
