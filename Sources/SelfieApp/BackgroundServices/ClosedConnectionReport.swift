import HTTPConnection
import Logging
import Synchronization

/// Tells the log how many connections were closed because there were too many.
///
/// A line for each would help whoever opens them to fill the log.
final class ClosedConnectionReport: Sendable {
    private let places: ConnectionPlaces
    private let logger: Logger
    private let reported = Atomic(0)

    init(places: ConnectionPlaces, logger: Logger) {
        self.places = places
        self.logger = logger
    }

    /// Writes a line if some were closed since the last time.
    func report() {
        let count = places.closedCount
        let new = count - reported.exchange(count, ordering: .relaxed)
        guard new > 0 else { return }
        logger.warning(
            "connections were closed because there were too many",
            metadata: ["closed": "\(new)", "open": "\(places.count)"]
        )
    }
}
