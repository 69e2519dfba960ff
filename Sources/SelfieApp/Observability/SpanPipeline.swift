import AsyncHTTPClient
import Logging
import SelfieConfiguration
import ServiceLifecycle
import Traces
import Tracing

/// Traces, and where their spans go.
struct SpanPipeline {
    let tracer: SpanTracer
    private let collector: OTLPSpanExporter?
    /// One of its own, so that sending spans makes no spans.
    private let httpClient: HTTPClient?

    /// How often spans are sent.
    private static let interval: Duration = .seconds(1)

    init(_ settings: TracesSettings?, logger: Logger) {
        switch settings?.exporter {
        case .otlp(let endpoint):
            let httpClient = HTTPClient(eventLoopGroupProvider: .singleton)
            let collector = OTLPSpanExporter(
                endpoint: endpoint,
                service: ("selfie", SelfieVersion.current),
                httpClient: httpClient,
                logger: logger
            )
            self.httpClient = httpClient
            self.collector = collector
            tracer = SpanTracer(exporter: collector, sampleRatio: settings?.sampleRatio ?? 1)
        case .console:
            (httpClient, collector) = (nil, nil)
            tracer = SpanTracer(exporter: LogSpanExporter(logger: logger), sampleRatio: settings?.sampleRatio ?? 1)
        case nil:
            (httpClient, collector) = (nil, nil)
            tracer = SpanTracer(exporter: nil)
        }
    }

    /// The tracer for work within requests; nil when it is not recorded.
    var exportingTracer: (any Tracer)? { tracer.isExporting ? tracer : nil }

    /// What sends spans.
    var services: [any Service] {
        guard let collector else { return [] }
        return [
            PeriodicService(interval: Self.interval) {
                await collector.send()
            } atEnd: {
                await collector.send()
            }
        ]
    }

    /// The headers that pass the trace of the present task on to another server.
    static let headers: @Sendable () -> [(name: String, value: String)] = {
        guard let trace = ServiceContext.current?.traceContext else { return [] }
        return [(TraceContext.headerName, trace.header)]
    }

    func shutDown() async throws {
        try await httpClient?.shutdown()
    }
}
