import CoreMetrics
import Metrics
import NIOConcurrencyHelpers
import Tracing

/// Measures each statement: its time by name, its errors by kind, and a span.
///
/// - `postgres_statement_duration`, a timer with the dimension `statement`.
/// - `postgres_errors`, a counter with the dimension `class`: the first two characters of the SQLSTATE (PostgreSQL
///   manual, appendix A), or `connection`, `timeout`, `pool`, `cancelled` or `client`.
final class StatementObserver: Sendable {
    private struct Instruments {
        var durations: [String: CoreMetrics.Timer] = [:]
        var errors: [String: Counter] = [:]
    }

    private let metrics: any MetricsFactory
    /// Whether there are neither metrics nor spans.
    private let isIdle: Bool
    private let tracer: (any Tracer)?
    private let instruments = NIOLockedValueBox(Instruments())

    /// - Parameters:
    ///   - metrics: Where metrics go; nil for nowhere.
    ///   - tracer: Where spans go; nil for nowhere.
    init(metrics: (any MetricsFactory)?, tracer: (any Tracer)?) {
        self.metrics = metrics ?? NOOPMetricsHandler.instance
        isIdle = metrics == nil && tracer == nil
        self.tracer = tracer
    }

    /// Runs a statement and measures it.
    ///
    /// - Parameters:
    ///   - name: A name that is the same in every call: each name has a timer of its own.
    ///   - run: Runs it.
    /// - Returns: What `run` returns.
    /// - Throws: What `run` returns as a failure.
    func observe<Success>(
        _ name: String,
        _ run: () async -> Result<Success, PostgresError>
    ) async throws(PostgresError) -> Success {
        if isIdle { return try await run().get() }
        let start = ContinuousClock.now
        let span = tracer?.startAnySpan("postgres \(name)", ofKind: .client)
        let outcome = await run()
        duration(of: name).record(duration: ContinuousClock.now - start)
        if case .failure(let error) = outcome {
            counter(of: error.kind).increment()
            span?.attributes["error.type"] = error.kind
            span?.setStatus(SpanStatus(code: .error))
        }
        span?.end()
        return try outcome.get()
    }

    private func duration(of name: String) -> CoreMetrics.Timer {
        instruments.withLockedValue { instruments in
            if let timer = instruments.durations[name] { return timer }
            let dimensions = [("statement", name)]
            let timer = CoreMetrics.Timer(
                label: "postgres_statement_duration",
                dimensions: dimensions,
                factory: metrics
            )
            instruments.durations[name] = timer
            return timer
        }
    }

    private func counter(of kind: String) -> Counter {
        instruments.withLockedValue { instruments in
            if let counter = instruments.errors[kind] { return counter }
            let counter = Counter(label: "postgres_errors", dimensions: [("class", kind)], factory: metrics)
            instruments.errors[kind] = counter
            return counter
        }
    }
}

extension PostgresError {
    /// What an error is counted as.
    fileprivate var kind: String {
        switch self {
        case .server(let error): error.sqlState.errorClass
        case .cannotConnect, .connectionLost: "connection"
        case .statementTimedOut: "timeout"
        case .leaseTimedOut, .tooManyWaiting, .clientClosed: "pool"
        case .cancelled: "cancelled"
        case .leaseEnded, .decoding: "client"
        }
    }
}
