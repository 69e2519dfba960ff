package import CoreMetrics
import HTTPTypes
import NIOCore
import Synchronization

/// Counts requests and refusals.
///
/// No label holds what a client may choose, so clients can't make new ones.
package final class RequestMetrics: Sendable {
    /// A sentence for each metric, by its name in Prometheus.
    package static let help = [
        "http_requests_total": "Requests that were answered, by endpoint, method and status.",
        "http_request_duration_seconds": "Time until the whole answer was handed over, by endpoint and method.",
        "http_requests_in_progress": "Requests that are under way.",
        "refusals_total": "Requests that a limit refused, by limit.",
    ]

    private struct Key: Hashable {
        let endpoint: String
        let method: String
        let status: Int
    }

    private struct Instruments {
        var requests: [Key: Counter] = [:]
        var durations: [Key: CoreMetrics.Timer] = [:]
        var refusals: [String: Counter] = [:]
    }

    /// nil when there are no metrics.
    let factory: (any MetricsFactory)?
    private let inProgress: Meter
    private let instruments = Mutex(Instruments())

    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// - Parameter factory: Where metrics go; nil for nowhere.
    package init(factory: (any MetricsFactory)?) {
        self.factory = factory
        inProgress = Meter(label: "http_requests_in_progress", factory: factory ?? NOOPMetricsHandler.instance)
    }

    func began() {
        inProgress.increment()
    }

    /// A request has ended without an answer.
    func brokeOff() {
        inProgress.decrement()
    }

    /// A request has ended with an answer.
    func ended(_ line: RequestLine) {
        inProgress.decrement()
        count(line)
    }

    /// Counts a request, which may never have begun.
    func count(_ line: RequestLine) {
        guard let factory else { return }
        let method = line.method.map { Self.methods.contains($0) ? $0.rawValue : "other" } ?? RequestLine.none
        let (endpoint, status) = (line.endpoint ?? RequestLine.none, line.status.code)
        let (counter, timer) = instruments.withLock { instruments in
            let key = Key(endpoint: endpoint, method: method, status: status)
            let (count, time) = (instruments.requests[key], instruments.durations[key])
            if let count, let time { return (count, time) }
            let dimensions = [("endpoint", endpoint), ("method", method)]
            let counter = Counter(
                label: "http_requests",
                dimensions: dimensions + [("status", "\(status)")],
                factory: factory
            )
            let timer = CoreMetrics.Timer(label: "http_request_duration", dimensions: dimensions, factory: factory)
            instruments.requests[key] = counter
            instruments.durations[key] = timer
            return (counter, timer)
        }
        counter.increment()
        timer.recordNanoseconds(line.duration.nanoseconds)
    }

    /// A limit has refused a request.
    func refused(by limit: String) {
        guard let factory else { return }
        let counter = instruments.withLock { instruments in
            if let counter = instruments.refusals[limit] { return counter }
            let counter = Counter(label: "refusals", dimensions: [("limit", limit)], factory: factory)
            instruments.refusals[limit] = counter
            return counter
        }
        counter.increment()
    }
}
