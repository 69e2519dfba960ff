package import Tracing

/// Reads `traceparent`, passes it on, and passes finished spans to an exporter.
///
/// It is a backend of swift-distributed-tracing.
package struct SpanTracer: Tracer {
    private let exporter: (any SpanExporter)?
    private let sampleRatio: Double

    /// - Parameters:
    ///   - exporter: Where spans go; nil for nowhere. Then trace contexts are only passed on.
    ///   - sampleRatio: The part of requests that begin a trace which is recorded, 0 to 1. Traces that others have begun
    ///     are recorded as these want it.
    package init(exporter: (any SpanExporter)?, sampleRatio: Double = 1) {
        self.exporter = exporter
        self.sampleRatio = sampleRatio
    }

    /// Whether spans go anywhere.
    package var isExporting: Bool { exporter != nil }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.traceContext
        guard let exporter else { return RecordedSpan(context: context) }
        let own = parent?.child() ?? .root(isSampled: .random(in: 0..<1) < sampleRatio)
        context.traceContext = own
        guard own.isSampled else { return RecordedSpan(context: context) }
        return RecordedSpan(
            operationName,
            kind: kind,
            start: instant().nanosecondsSinceEpoch,
            context: context,
            trace: own,
            parentID: parent?.spanID,
            exporter: exporter
        )
    }

    package func forceFlush() {}

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let header = extractor.extract(key: TraceContext.headerName, from: carrier) else { return }
        context.traceContext = TraceContext(header: header)
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.traceContext else { return }
        injector.inject(trace.header, forKey: TraceContext.headerName, into: &carrier)
    }
}
