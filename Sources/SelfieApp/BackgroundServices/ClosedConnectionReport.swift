import HTTPConnection
import Logging
import Synchronization

/// Logs how many connections were closed because there were too many.
///
/// With a line for each, clients could fill the log.
final class ClosedConnectionReport: Sendable {
    private let connections: ConnectionPermits
    private let logger: Logger
    private let reported = Atomic(0)

    init(connections: ConnectionPermits, logger: Logger) {
        self.connections = connections
        self.logger = logger
    }

    /// Writes a line if some were closed since the last time.
    func report() {
        let count = connections.closedCount
        let new = count - reported.exchange(count, ordering: .relaxed)
        guard new > 0 else { return }
        logger.warning(
            "connections were closed because there were too many",
            metadata: ["closed": "\(new)", "open": "\(connections.count)"]
        )
    }
}
