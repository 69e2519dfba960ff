/// Where spans go: `OTEL_TRACES_EXPORTER` and `OTEL_EXPORTER_OTLP_ENDPOINT`.
///
/// Source of the names: OpenTelemetry, "Environment Variable Specification".
package enum TracesExporter: Sendable, Equatable {
    /// To the log.
    case console
    /// To a collector that takes OTLP over HTTP, at this URL.
    case otlp(endpoint: String)
}
