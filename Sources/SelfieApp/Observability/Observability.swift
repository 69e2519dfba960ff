import CoreMetrics
import Deliveries
import Logging
import ObjectStore
import Outages
import Postgres
import Prometheus
import S3
import SelfieConfiguration
import SelfieNotifications
import SelfieWeb
import ServiceLifecycle
import Traces

/// Where metrics and spans of the service go.
struct Observability {
    /// nil when there are to be no metrics.
    let registry: PrometheusRegistry?
    private let spans: SpanPipeline
    private let logger: Logger

    init(_ configuration: ServiceConfiguration, logger: Logger) {
        registry = configuration.metricsAddress.map { _ in PrometheusRegistry(help: Self.help) }
        spans = SpanPipeline(configuration.traces, logger: logger)
        self.logger = logger
    }

    /// A sentence for each metric, by its name.
    static let help = [
        RequestMetrics.help, ChangeMetrics.help, DeliveryMetrics.help, Pushes.help, SubscriptionChannel.help,
        MetricsSampler.help,
        // Those of modules that know no product.
        [
            "postgres_connections": "Connections to the database that are open or being opened.",
            "postgres_standby_connections": "Connections to a standby that are open or being opened.",
            "postgres_standby_waiting": "Callers that wait for a connection to a standby.",
            "postgres_standby_wait_duration_seconds": "How long callers waited for a connection to a standby.",
            "postgres_standby_reads_total":
                "Statements for a standby: answered, behind, failed, or skipped after a failure.",
            "postgres_waiting": "Callers that wait for a connection to the database.",
            "postgres_wait_duration_seconds": "How long callers waited for a connection to the database.",
            "postgres_statement_duration_seconds": "How long statements took, by their name.",
            "postgres_errors_total": "Statements that failed, by the class of their SQLSTATE, or by another kind.",
            "store_call_duration_seconds": "How long calls to the store took, by call and outcome.",
            "store_retries_total": "Requests to the bucket that were tried again.",
        ],
    ].reduce([:]) { $0.merging($1) { $1 } }

    var tracer: SpanTracer { spans.tracer }

    /// What sends spans.
    var services: [any Service] { spans.services }

    /// The database, observed.
    func observed(_ postgres: PostgresConfiguration) -> PostgresConfiguration {
        var postgres = postgres
        postgres.metrics = registry ?? postgres.metrics
        postgres.tracer = spans.exportingTracer ?? postgres.tracer
        postgres.onStandbyReachabilityChange = { [logger] reachability in
            switch reachability {
            case .failing(let reason):
                logger.warning(
                    "no connection to a standby can be opened, so the primary is read; run selfie doctor",
                    metadata: ["reason": "\(reason)"]
                )
            case .over: logger.notice("connections to a standby can be opened again")
            }
        }
        postgres.onReachabilityChange = { [logger] reachability in
            switch reachability {
            case .failing(let reason):
                logger.error(
                    "no connection to the database can be opened, so requests wait or are refused; run selfie doctor",
                    metadata: ["reason": "\(reason)"]
                )
            case .over: logger.notice("connections to the database can be opened again")
            }
        }
        return postgres
    }

    /// How a bucket is used, observed.
    func observed(_ bucket: BucketOptions) -> BucketOptions {
        var bucket = bucket
        bucket.callerHeaders = SpanPipeline.headers
        if let registry {
            let retries = Counter(label: "store_retries", factory: registry)
            bucket.retries.onRetry = { retries.increment() }
        }
        return bucket
    }

    /// The store, observed.
    func observed(_ objects: any ObjectStore) -> any ObjectStore {
        guard registry != nil || spans.exportingTracer != nil else { return objects }
        return MeasuredObjectStore(
            objects,
            metrics: registry ?? NOOPMetricsHandler.instance,
            tracer: spans.exportingTracer
        )
    }
}
