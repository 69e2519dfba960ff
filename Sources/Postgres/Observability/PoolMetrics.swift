import CoreMetrics
import Metrics
import NIOConcurrencyHelpers

/// Metrics of a client's pools together, recorded whenever they change.
///
/// - `postgres_connections`, a gauge: how many are open or being opened.
/// - `postgres_waiting`, a gauge: how many callers wait for one.
/// - `postgres_wait_duration`, a timer: how long a caller waited until it was served.
///
/// Those of a standby begin with `postgres_standby`.
final class PoolMetrics: Sendable {
    struct Counts: Equatable {
        var connections = 0
        var waiting = 0
    }

    private let connections: Gauge
    private let waiting: Gauge
    private let wait: Timer
    private let total = NIOLockedValueBox(Counts())

    init(factory: any MetricsFactory, prefix: String) {
        connections = Gauge(label: "\(prefix)_connections", factory: factory)
        waiting = Gauge(label: "\(prefix)_waiting", factory: factory)
        wait = Timer(label: "\(prefix)_wait_duration", factory: factory)
    }

    /// One pool's counts have changed.
    func changed(from old: Counts, to new: Counts) {
        guard old != new else { return }
        // Recorded under the lock, so that two changes at once are recorded in their order.
        total.withLockedValue { total in
            total.connections += new.connections - old.connections
            total.waiting += new.waiting - old.waiting
            if new.connections != old.connections { connections.record(total.connections) }
            if new.waiting != old.waiting { waiting.record(total.waiting) }
        }
    }

    func waited(_ duration: Duration) {
        wait.record(duration: duration)
    }
}
