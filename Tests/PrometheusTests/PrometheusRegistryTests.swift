import CoreMetrics
import Testing

@testable import Prometheus

@Suite("Metrics for Prometheus")
struct PrometheusRegistryTests {
    @Test("Counters, gauges and histograms are written as the text format says")
    func text() {
        let registry = PrometheusRegistry(help: ["requests_total": "How many.\nIn all."])
        let counter = Counter(label: "requests", dimensions: [("status", "200"), ("method", "GET")], factory: registry)
        counter.increment(by: 2)
        // The same again, with the labels in another order.
        Counter(label: "requests", dimensions: [("method", "GET"), ("status", "200")], factory: registry).increment()
        Meter(label: "depth", factory: registry).set(1.5)
        let timer = CoreMetrics.Timer(label: "wait", dimensions: [("a", "b")], factory: registry)
        for milliseconds in [1, 2, 40, 60_000] { timer.recordMilliseconds(milliseconds) }
        #expect(
            registry.text() == """
                # TYPE depth gauge
                depth 1.5
                # HELP requests_total How many.\\nIn all.
                # TYPE requests_total counter
                requests_total{method="GET",status="200"} 3
                # TYPE wait_seconds histogram
                wait_seconds_bucket{a="b",le="0.001"} 1
                wait_seconds_bucket{a="b",le="0.0025"} 2
                wait_seconds_bucket{a="b",le="0.005"} 2
                wait_seconds_bucket{a="b",le="0.01"} 2
                wait_seconds_bucket{a="b",le="0.025"} 2
                wait_seconds_bucket{a="b",le="0.05"} 3
                wait_seconds_bucket{a="b",le="0.1"} 3
                wait_seconds_bucket{a="b",le="0.25"} 3
                wait_seconds_bucket{a="b",le="0.5"} 3
                wait_seconds_bucket{a="b",le="1"} 3
                wait_seconds_bucket{a="b",le="2.5"} 3
                wait_seconds_bucket{a="b",le="5"} 3
                wait_seconds_bucket{a="b",le="10"} 3
                wait_seconds_bucket{a="b",le="30"} 3
                wait_seconds_bucket{a="b",le="+Inf"} 4
                wait_seconds_sum{a="b"} 60.043
                wait_seconds_count{a="b"} 4

                """
        )
    }

    @Test("No name and no label breaks a line")
    func escapes() {
        let registry = PrometheusRegistry()
        Counter(label: "9 odd-näme", dimensions: [("a b", "x\"y\\z\n1")], factory: registry).increment()
        #expect(
            registry.text() == "# TYPE _9_odd_n_me_total counter\n_9_odd_n_me_total{a_b=\"x\\\"y\\\\z\\n1\"} 1\n"
        )
    }

    @Test("Beyond the limit, new combinations are dropped, and the old ones still count")
    func limit() {
        let registry = PrometheusRegistry(maxSeries: 2)
        for _ in 0..<2 {
            for name in ["a", "b", "c"] {
                Counter(label: "x", dimensions: [("name", name)], factory: registry).increment()
            }
        }
        #expect(registry.text() == "# TYPE x_total counter\nx_total{name=\"a\"} 2\nx_total{name=\"b\"} 2\n")
    }

    @Test("A gauge goes up and down, and numbers are written as Go writes them")
    func numbers() {
        let registry = PrometheusRegistry()
        let meter = Meter(label: "x", factory: registry)
        meter.increment(by: 3)
        meter.decrement(by: 5)
        #expect(registry.text().hasSuffix("\nx -2\n"))
        for (value, text) in [
            (Double.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (0.25, "0.25"), (1e300, "1e+300"),
        ] {
            meter.set(value)
            #expect(registry.text().hasSuffix("\nx \(text)\n"))
        }
    }

    @Test("Many threads at once lose no count")
    func parallel() async {
        let registry = PrometheusRegistry()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 {
                        Counter(label: "x", factory: registry).increment()
                        CoreMetrics.Timer(label: "y", factory: registry).recordNanoseconds(1)
                    }
                }
            }
        }
        #expect(registry.text().contains("\nx_total 8000\n") || registry.text().contains("x_total 8000\n"))
        #expect(registry.text().contains("y_seconds_count 8000\n"))
    }
}
