import CoreMetrics

/// Figures of a pool, told whenever they change.
///
/// - `postgres_connections`, a gauge: how many are open or being opened.
/// - `postgres_waiting`, a gauge: how many callers wait for one.
/// - `postgres_wait_duration`, a timer: how long a caller waited until it was served.
struct PoolMetrics {
    private let connections: Gauge
    private let waiting: Gauge
    private let wait: Timer
    private var last = (connections: 0, waiting: 0)

    init(factory: any MetricsFactory) {
        connections = Gauge(label: "postgres_connections", factory: factory)
        waiting = Gauge(label: "postgres_waiting", factory: factory)
        wait = Timer(label: "postgres_wait_duration", factory: factory)
    }

    mutating func update(connections connectionCount: Int, waiting waiterCount: Int) {
        if connectionCount != last.connections { connections.record(connectionCount) }
        if waiterCount != last.waiting { waiting.record(waiterCount) }
        last = (connectionCount, waiterCount)
    }

    func waited(_ duration: Duration) {
        wait.recordNanoseconds(duration.nanoseconds)
    }
}

extension Duration {
    var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
