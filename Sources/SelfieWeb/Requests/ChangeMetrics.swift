import CoreMetrics
import NIOCore
import SelfieCore

/// Counts what clients are told of changes.
///
/// - `changes_delivered`, a counter.
/// - `change_delivery_duration`, a timer: from when the process knew of a change to when it was handed over.
/// - `change_resets`, a counter with `reason`.
struct ChangeMetrics: Sendable {
    private let delivered: Counter
    private let duration: CoreMetrics.Timer
    private let resets: [ChangeReset: Counter]

    /// - Parameter factory: Where figures go; nil for nowhere.
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

    /// Changes were handed over.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - time: When the process knew of the first of them; nil for what was there before.
    func delivered(_ count: Int, since time: ContinuousClock.Instant? = nil) {
        delivered.increment(by: count)
        if let time { duration.recordNanoseconds(TimeAmount(ContinuousClock.now - time).nanoseconds) }
    }

    /// A client was told to begin again.
    func reset(_ reset: ChangeReset) {
        resets[reset]?.increment()
    }
}
