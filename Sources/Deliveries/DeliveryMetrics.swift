import CoreMetrics

/// Counts what was sent out.
package struct DeliveryMetrics: Sendable {
    /// A sentence for each metric, by its name in Prometheus.
    package static let help = [
        "deliveries_total": "What was to be sent out and has ended, or is tried again, by channel, cause and outcome.",
        "delivery_duration_seconds": "How long tries took to send something out.",
    ]

    private let factory: any MetricsFactory

    init(channels: [DeliveryChannelName], factory: any MetricsFactory) {
        self.factory = factory
        // Shown from the beginning, though nothing has happened.
        for channel in channels { _ = duration(channel) }
    }

    /// A try has ended.
    func tried(_ delivery: Delivery, took time: Duration) {
        duration(delivery.channel).recordNanoseconds(Int64(time / .nanoseconds(1)))
    }

    /// The outcome of a try was noted.
    func ended(_ delivery: Delivery, _ outcome: DeliveryOutcome, hasFailed: Bool) {
        let word =
            switch outcome {
            case .sent: "sent"
            case .pointless: "pointless"
            case .unfinished: "continued"
            case .postponed: "postponed"
            case .notNow where !hasFailed, .unavailable where !hasFailed: "retried"
            case .notNow, .unavailable, .refused: "failed"
            }
        Counter(
            label: "deliveries",
            dimensions: [("channel", delivery.channel.rawValue), ("cause", delivery.kind), ("outcome", word)],
            factory: factory
        ).increment()
    }

    private func duration(_ channel: DeliveryChannelName) -> CoreMetrics.Timer {
        CoreMetrics.Timer(label: "delivery_duration", dimensions: [("channel", channel.rawValue)], factory: factory)
    }
}
