package import CoreMetrics
import Synchronization

/// Keeps the metrics of a process and writes them in Prometheus' text format.
///
/// It is a backend of swift-metrics. A counter's name gets `_total` at its end, a timer's gets `_seconds`. Recorders that
/// aggregate, and timers, are histograms.
///
/// Source: Prometheus, "Exposition formats", text format 0.0.4; "Metric and label naming".
package final class PrometheusRegistry: Sendable {
    /// The media type of ``text()``.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private struct State {
        var families: [String: Family] = [:]
        var seriesCount = 0
    }

    private let maxSeries: Int
    private let help: [String: String]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - help: A sentence for each metric, by its name in the output.
    ///   - maxSeries: The most combinations of names and labels. Others are dropped, so that no client can fill the
    ///     memory with new ones.
    package init(help: [String: String] = [:], maxSeries: Int = 5_000) {
        self.help = help
        self.maxSeries = maxSeries
    }

    /// All metrics.
    package func text() -> String {
        let families = state.withLock { $0.families }
        return families.keys.sorted().map { families[$0]?.text(help: help[$0]) ?? "" }.joined()
    }

    /// The instrument of a name and labels, made at the first time.
    ///
    /// - Returns: nil when there are too many, or the name is that of another kind.
    private func instrument(
        _ kind: Family.Kind,
        _ label: String,
        suffix: String,
        _ dimensions: [(String, String)]
    ) -> Family.Series? {
        let name = ExpositionText.name(label, suffix: suffix)
        let labels = ExpositionText.labels(dimensions)
        return state.withLock { state in
            var family = state.families[name] ?? Family(name: name, kind: kind)
            guard family.kind == kind else { return nil }
            if let series = family.series[labels] { return series }
            guard state.seriesCount < maxSeries else { return nil }
            let series = kind.makeSeries()
            family.series[labels] = series
            state.families[name] = family
            state.seriesCount += 1
            return series
        }
    }
}

extension PrometheusRegistry: MetricsFactory {
    package func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> CounterSeries? {
        guard case .counter(let counter) = instrument(.counter, label, suffix: "_total", dimensions) else { return nil }
        return counter
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        switch instrument(aggregate ? .histogram : .gauge, label, suffix: "", dimensions) {
        case .histogram(let histogram): histogram
        case .gauge(let gauge): gauge
        case .counter, nil: NOOPMetricsHandler.instance
        }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        guard case .gauge(let gauge) = instrument(.gauge, label, suffix: "", dimensions) else {
            return NOOPMetricsHandler.instance
        }
        return gauge
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        guard case .histogram(let histogram) = instrument(.histogram, label, suffix: "_seconds", dimensions) else {
            return NOOPMetricsHandler.instance
        }
        return histogram
    }

    /// Metrics stay for as long as the process lives: Prometheus takes a counter that disappears for one that was reset.
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}
