/// Where spans go: `OTEL_TRACES_EXPORTER` and `OTEL_EXPORTER_OTLP_ENDPOINT`.
///
/// Source of the names: OpenTelemetry, "Environment Variable Specification".
package enum TracesExporter: Sendable, Equatable {
    /// To the log.
    case console
    /// To a collector that takes OTLP over HTTP, at this URL.
    case otlp(endpoint: String)
}

/// Which spans go where: `OTEL_TRACES_SAMPLER_ARG` beside ``TracesExporter``.
package struct TracesSettings: Sendable, Equatable {
    package let exporter: TracesExporter
    /// The part of requests without a trace of their own that are recorded, 0 to 1.
    package let sampleRatio: Double
}
