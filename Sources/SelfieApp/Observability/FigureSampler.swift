import CoreMetrics
import HTTPConnection
import ObjectStore
import SelfieConfiguration
import SelfieCore
import SelfieWeb
import Synchronization

/// Reads the figures that are known only when somebody asks.
final class FigureSampler: Sendable {
    /// Where the figures are.
    struct Sources: Sendable {
        let places: ConnectionPlaces
        let traffic: TrafficMeter
        let spool: SpoolBudget
        let hasher: PasswordHasher
        let useCases: UseCases
    }

    private let sources: Sources
    private let gauges: Gauges
    private let received: GrowingFigure
    private let sent: GrowingFigure
    private let closed: GrowingFigure
    private let lostNotifications: GrowingFigure
    private let processorSeconds: GrowingFigure

    private struct Gauges: Sendable {
        let connections: Meter
        let changeStreams: Meter
        let spoolMemory: Meter
        let spoolDisk: Meter
        let hashesWaiting: Meter
        let deletionsWaiting: Meter
        let residentBytes: Meter
        let openDescriptors: Meter
        let maxDescriptors: Meter
    }

    /// - Parameters:
    ///   - sources: Where the figures are.
    ///   - schemaVersion: The last migration that the service needs.
    ///   - factory: Where they go.
    init(_ sources: Sources, schemaVersion: String?, factory: any MetricsFactory) {
        self.sources = sources
        func meter(_ label: String) -> Meter { Meter(label: label, factory: factory) }
        gauges = Gauges(
            connections: meter("http_connections"),
            changeStreams: meter("change_streams"),
            spoolMemory: meter("spool_memory_bytes"),
            spoolDisk: meter("spool_disk_bytes"),
            hashesWaiting: meter("password_hashes_waiting"),
            deletionsWaiting: meter("object_deletions_waiting"),
            residentBytes: meter("process_resident_memory_bytes"),
            openDescriptors: meter("process_open_fds"),
            maxDescriptors: meter("process_max_fds")
        )
        received = GrowingFigure("http_received_bytes", factory)
        sent = GrowingFigure("http_sent_bytes", factory)
        closed = GrowingFigure("http_connections_refused", factory)
        lostNotifications = GrowingFigure("change_notifications_lost", factory)
        processorSeconds = GrowingFigure("process_cpu_seconds", factory)
        Meter(
            label: "selfie_build_info",
            dimensions: [("version", SelfieVersion.current), ("schema", schemaVersion ?? "unknown")],
            factory: factory
        ).set(1)
    }

    /// Tells the present figures.
    ///
    /// That of the database stays as it was while the database is down.
    func sample() async {
        gauges.connections.set(sources.places.count)
        let (notifier, hub) = (sources.useCases.notifier, sources.useCases.followChanges.hub)
        gauges.changeStreams.set(hub.listenerCount)
        lostNotifications.tell(Double(notifier.lostCount + hub.lostConnectionCount))
        closed.tell(Double(sources.places.closedCount))
        received.tell(Double(sources.traffic.bytesReceived))
        sent.tell(Double(sources.traffic.bytesSent))
        gauges.spoolMemory.set(sources.spool.memoryBytesUsed)
        gauges.spoolDisk.set(sources.spool.diskBytesUsed)
        gauges.hashesWaiting.set(sources.hasher.waitingCount)
        let process = ProcessFigures.current()
        gauges.residentBytes.set(process.residentBytes)
        gauges.openDescriptors.set(process.openDescriptors)
        gauges.maxDescriptors.set(process.maxDescriptors)
        processorSeconds.tell(process.processorSeconds)
        if let count = try? await sources.useCases.photos.waitingDeletionCount() { gauges.deletionsWaiting.set(count) }
    }
}

/// A counter that is told the whole number each time.
private final class GrowingFigure: Sendable {
    private let counter: FloatingPointCounter
    private let told = Mutex(0.0)

    init(_ label: String, _ factory: any MetricsFactory) {
        counter = FloatingPointCounter(label: label, factory: factory)
        // Shown from the beginning, though nothing has happened.
        counter.increment(by: 0)
    }

    func tell(_ number: Double) {
        let growth = told.withLock { told in
            defer { told = max(told, number) }
            return number - told
        }
        if growth > 0 { counter.increment(by: growth) }
    }
}
