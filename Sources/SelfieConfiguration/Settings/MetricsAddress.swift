/// Where metrics are served: `METRICS_HOST` and `METRICS_PORT`.
package struct MetricsAddress: Sendable, Equatable {
    package let host: String
    /// 0 for any free port.
    package let port: Int
}
