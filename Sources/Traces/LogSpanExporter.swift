package import Logging

/// Writes spans to the log.
package struct LogSpanExporter: SpanExporter {
    private let logger: Logger

    /// - Parameter logger: The log.
    package init(logger: Logger) {
        self.logger = logger
    }

    package func export(_ span: FinishedSpan) {
        let tenths = (span.end - min(span.start, span.end) + 50_000) / 100_000
        logger.info(
            "span",
            metadata: [
                "name": "\(span.name)", "trace_id": "\(span.trace.traceID)", "span_id": "\(span.trace.spanID)",
                "parent_id": "\(span.parentID ?? "none")", "ms": .stringConvertible(Double(tenths) / 10),
                "error": .stringConvertible(span.isError),
            ]
        )
    }
}
