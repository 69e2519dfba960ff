import CoreMetrics
import Logging
import ObjectStore
import Outages
import Postgres
import Prometheus
import S3
import SelfieConfiguration
import ServiceLifecycle
import Traces

/// Where figures and spans of the service go.
struct Observability {
    /// nil when nobody asks for figures.
    let registry: PrometheusRegistry?
    private let spans: SpanPipeline
    private let logger: Logger

    init(_ configuration: ServiceConfiguration, logger: Logger) {
        registry = configuration.metricsAddress.map { _ in PrometheusRegistry(help: MetricsHelp.texts) }
        spans = SpanPipeline(configuration.traces, logger: logger)
        self.logger = logger
    }

    var tracer: SpanTracer { spans.tracer }

    /// What sends spans.
    var services: [any Service] { spans.services }

    /// The database, observed.
    func observed(_ postgres: PostgresConfiguration) -> PostgresConfiguration {
        var postgres = postgres
        postgres.metrics = registry ?? postgres.metrics
        postgres.tracer = spans.exportingTracer ?? postgres.tracer
        postgres.onReachabilityChange = { [logger] reachability in
            switch reachability {
            case .failing(let reason):
                logger.error(
                    "no connection to the database can be opened, so requests wait or are refused; selfie doctor tells more",
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

    func shutDown() async throws {
        try await spans.shutDown()
    }
}
