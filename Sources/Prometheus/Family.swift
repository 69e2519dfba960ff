/// All series of one name.
struct Family {
    enum Kind: String {
        case counter
        case gauge
        case histogram

        func makeSeries() -> Series {
            switch self {
            case .counter: .counter(CounterSeries())
            case .gauge: .gauge(GaugeSeries())
            case .histogram: .histogram(HistogramSeries())
            }
        }
    }

    enum Series {
        case counter(CounterSeries)
        case gauge(GaugeSeries)
        case histogram(HistogramSeries)
    }

    let name: String
    let kind: Kind
    /// By their labels as text, such as `method="GET"`.
    var series: [String: Series] = [:]

    /// The lines of the family.
    func text(help: String?) -> String {
        var text = help.map { "# HELP \(name) \(ExpositionText.escapedHelp($0))\n" } ?? ""
        text += "# TYPE \(name) \(kind.rawValue)\n"
        for (labels, series) in series.sorted(by: { $0.key < $1.key }) {
            switch series {
            case .counter(let counter): text += line("", labels, ExpositionText.number(counter.value))
            case .gauge(let gauge): text += line("", labels, ExpositionText.number(gauge.value))
            case .histogram(let histogram): text += lines(of: histogram.value, labels)
            }
        }
        return text
    }

    private func lines(of histogram: HistogramSeries.Value, _ labels: String) -> String {
        var (text, count) = ("", UInt64(0))
        for (bound, bucket) in zip(HistogramSeries.bounds, histogram.buckets) {
            count += bucket
            text += line("_bucket", joined(labels, "le=\"\(ExpositionText.number(bound))\""), "\(count)")
        }
        count += histogram.buckets.last ?? 0
        text += line("_bucket", joined(labels, "le=\"+Inf\""), "\(count)")
        text += line("_sum", labels, ExpositionText.number(histogram.sum))
        return text + line("_count", labels, "\(count)")
    }

    private func joined(_ labels: String, _ label: String) -> String {
        labels.isEmpty ? label : "\(labels),\(label)"
    }

    private func line(_ suffix: String, _ labels: String, _ value: String) -> String {
        "\(name)\(suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(value)\n"
    }
}
