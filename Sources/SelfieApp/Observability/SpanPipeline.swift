import Curl
import Logging
import SelfieConfiguration
import ServiceLifecycle
import Traces
import Tracing

/// Traces, and where their spans go.
struct SpanPipeline {
    let tracer: SpanTracer
    private let collector: OTLPSpanExporter?

    /// How often spans are sent.
    private static let interval: Duration = .seconds(1)

    init(_ settings: TracesSettings?, logger: Logger) {
        switch settings?.exporter {
        case .otlp(let endpoint):
            let collector = OTLPSpanExporter(
                endpoint: endpoint,
                service: ("selfie", SelfieVersion.current),
                curl: CurlClient(),
                logger: logger
            )
            self.collector = collector
            tracer = SpanTracer(exporter: collector, sampleRatio: settings?.sampleRatio ?? 1)
        case .console:
            collector = nil
            tracer = SpanTracer(exporter: LogSpanExporter(logger: logger), sampleRatio: settings?.sampleRatio ?? 1)
        case nil:
            collector = nil
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
}
