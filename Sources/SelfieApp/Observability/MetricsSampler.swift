import CoreMetrics
import Deliveries
import HTTPConnection
import ObjectStore
import SelfieAccounts
import SelfieConfiguration
import SelfieCore
import SelfiePhotos
import SelfieRecords
import Synchronization

/// Reads the metrics that are sampled when Prometheus asks.
final class MetricsSampler: Sendable {
    /// The sources of the metrics.
    struct Sources: Sendable {
        let connections: ConnectionPermits
        let traffic: TrafficMeter
        let uploads: SpoolBudget
        let hasher: PasswordHasher
        let useCases: UseCases
    }

    private static let gauges: [(name: String, help: String, read: @Sendable (Sources) -> Int)] = [
        ("http_connections", "Connections of clients.", { $0.connections.count }),
        (
            "change_streams", "Streams of changes that are open, and calls that wait for a change.",
            { $0.useCases.records.followChanges.hub.listenerCount }
        ),
        ("spool_memory_bytes", "Bytes of uploads in memory that wait for the store.", { $0.uploads.memoryBytesUsed }),
        (
            "spool_disk_bytes", "Bytes of uploads in temporary files that wait for the store.",
            { $0.uploads.diskBytesUsed }
        ),
        ("password_hashes_waiting", "Passwords that wait for a thread to be hashed.", { $0.hasher.waitingCount }),
        ("process_resident_memory_bytes", "Memory in use.", { _ in ProcessMetrics.residentBytes }),
        ("process_open_fds", "Open files and sockets.", { _ in ProcessMetrics.openDescriptors }),
        ("process_max_fds", "How many files and sockets may be open.", { _ in ProcessMetrics.maxDescriptors }),
    ]

    private static let counters: [(name: String, help: String, read: @Sendable (Sources) -> Double)] = [
        (
            "http_connections_refused", "Connections that were closed because there were too many.",
            { Double($0.connections.closedCount) }
        ),
        ("http_received_bytes", "Bytes from clients.", { Double($0.traffic.bytesReceived) }),
        ("http_sent_bytes", "Bytes to clients.", { Double($0.traffic.bytesSent) }),
        (
            "change_notifications_lost", "Notifications that failed, and losses of the connection that receives them.",
            { Double($0.useCases.notifier.lostCount + $0.useCases.records.followChanges.hub.lostConnectionCount) }
        ),
        ("process_cpu_seconds", "Processor time.", { _ in ProcessMetrics.processorSeconds }),
    ]

    private static let deletions = (
        name: "object_deletions_waiting", help: "Objects that are still to be deleted, of all processes together."
    )
    private static let renditions = (
        name: "renditions", help: "Small pictures that this process made or did not make, by outcome."
    )
    private static let failedRenditions = (
        name: "renditions_failed", help: "Small pictures that can't be made, or not now, of all processes, by reason."
    )
    private static let waitingDeliveries = (
        name: "deliveries_waiting", help: "What waits to be sent out, of all processes, by channel; at most 100,000."
    )
    private static let oldestDelivery = (
        name: "deliveries_oldest_age_seconds", help: "For how long the oldest of these waits."
    )
    private static let failedDeliveries = (
        name: "deliveries_failed", help: "What was not sent out in the last seven days, of all processes, by channel."
    )
    private static let build = (
        name: "selfie_build_info", help: "1; the labels are the version and the last migration that it needs."
    )

    /// A sentence for each of them, by its name.
    static let help = Dictionary(
        uniqueKeysWithValues: gauges.map { ($0.name, $0.help) } + counters.map { ("\($0.name)_total", $0.help) }
            + [deletions, failedRenditions, waitingDeliveries, oldestDelivery, failedDeliveries, build].map {
                ($0.name, $0.help)
            }
            + [("\(renditions.name)_total", renditions.help)]
    )

    private let sources: Sources
    private let gauges: [Meter]
    private let counters: [SampledCounter]
    private let deletionsWaiting: Meter
    private let renditionOutcomes: [String: SampledCounter]
    private let renditionFailures: [String: Meter]
    private let deliveryMeters: [DeliveryChannelName: (waiting: Meter, oldest: Meter, failed: Meter)]

    init(_ sources: Sources, schemaVersion: String?, factory: any MetricsFactory) {
        self.sources = sources
        gauges = Self.gauges.map { Meter(label: $0.name, factory: factory) }
        counters = Self.counters.map { SampledCounter($0.name, factory) }
        deletionsWaiting = Meter(label: Self.deletions.name, factory: factory)
        renditionOutcomes = Dictionary(
            uniqueKeysWithValues: MakeRendition.outcomes.map { outcome in
                (outcome, SampledCounter(Self.renditions.name, factory, dimensions: [("outcome", outcome)]))
            }
        )
        renditionFailures = Dictionary(
            uniqueKeysWithValues: MakeRendition.failureReasons.map { reason in
                (reason, Meter(label: Self.failedRenditions.name, dimensions: [("reason", reason)], factory: factory))
            }
        )
        deliveryMeters = Dictionary(
            uniqueKeysWithValues: DeliveryChannelName.allCases.map { channel in
                let meter = { (name: String) in
                    Meter(label: name, dimensions: [("channel", channel.rawValue)], factory: factory)
                }
                return (
                    channel,
                    (
                        meter(Self.waitingDeliveries.name), meter(Self.oldestDelivery.name),
                        meter(Self.failedDeliveries.name)
                    )
                )
            }
        )
        Meter(
            label: Self.build.name,
            dimensions: [("version", SelfieVersion.current), ("schema", schemaVersion ?? "unknown")],
            factory: factory
        ).set(1)
    }

    /// Reads the present values.
    ///
    /// That of the database stays as it was while the database is down.
    func sample() async {
        for (gauge, metric) in zip(gauges, Self.gauges) { gauge.set(metric.read(sources)) }
        for (counter, metric) in zip(counters, Self.counters) { counter.set(metric.read(sources)) }
        let photos = sources.useCases.photos
        if let count = try? await photos.store.waitingDeletionCount() { deletionsWaiting.set(count) }
        for (outcome, count) in photos.makeRendition?.outcomeCounts ?? [:] {
            renditionOutcomes[outcome]?.set(Double(count))
        }
        for summary in (try? await sources.useCases.deliveryStore.summaries()) ?? [] {
            guard let meters = deliveryMeters[summary.channel] else { continue }
            meters.waiting.set(summary.waitingCount)
            meters.oldest.set(summary.oldestAge)
            meters.failed.set(summary.failedCount)
        }
        guard let failed = try? await photos.store.failedRenditionCounts() else { return }
        for (reason, meter) in renditionFailures { meter.set(failed[reason] ?? 0) }
    }
}

/// A counter whose whole number is known, and not its growth.
private final class SampledCounter: Sendable {
    private let counter: FloatingPointCounter
    private let last = Mutex(0.0)

    init(_ label: String, _ factory: any MetricsFactory, dimensions: [(String, String)] = []) {
        counter = FloatingPointCounter(label: label, dimensions: dimensions, factory: factory)
        // Shown from the beginning, though nothing has happened.
        counter.increment(by: 0)
    }

    func set(_ number: Double) {
        let growth = last.withLock { last in
            defer { last = max(last, number) }
            return number - last
        }
        if growth > 0 { counter.increment(by: growth) }
    }
}
