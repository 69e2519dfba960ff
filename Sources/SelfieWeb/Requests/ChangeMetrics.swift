import CoreMetrics
import NIOCore
import SelfieRecords

/// Counts the changes that clients get.
package struct ChangeMetrics: Sendable {
    /// A sentence for each metric, by its name in Prometheus.
    package static let help = [
        "changes_delivered_total": "Changes that were handed over to clients.",
        "change_delivery_duration_seconds": "From when the process knew of a change to when it was handed over.",
        "change_resets_total": "Clients that have to begin again, by reason.",
    ]

    private let delivered: Counter
    private let duration: CoreMetrics.Timer
    private let resets: [ChangeReset: Counter]

    /// - Parameter factory: Where metrics go; nil for nowhere.
    init(factory: (any MetricsFactory)?) {
        let factory = factory ?? NOOPMetricsHandler.instance
        delivered = Counter(label: "changes_delivered", factory: factory)
        duration = CoreMetrics.Timer(label: "change_delivery_duration", factory: factory)
        resets = Dictionary(
            uniqueKeysWithValues: ChangeReset.allCases.map { reset in
                (reset, Counter(label: "change_resets", dimensions: [("reason", reset.rawValue)], factory: factory))
            }
        )
        // Shown from the beginning, though nothing has happened.
        for counter in resets.values + [delivered] { counter.increment(by: 0) }
    }

    /// Changes were handed over; the process knew of the first of them at a time, if they were not there before.
    func delivered(_ count: Int, since time: ContinuousClock.Instant? = nil) {
        delivered.increment(by: count)
        if let time { duration.recordNanoseconds(TimeAmount(ContinuousClock.now - time).nanoseconds) }
    }

    /// A client has to begin again.
    func reset(_ reset: ChangeReset) {
        resets[reset]?.increment()
    }
}
