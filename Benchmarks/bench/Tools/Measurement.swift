/// What one measurement found.
protocol Measurement {
    /// The values, each with its unit as the end of a key and as people read it.
    var values: [(unit: String, label: String, value: Double)] { get }
    /// The number of requests without a 2xx answer.
    var failureCount: Int { get }
}

/// A load generator's measurement of a server.
struct LoadMeasurement: Measurement, Sendable {
    let requestsPerSecond: Double
    let p50Milliseconds: Double
    let p99Milliseconds: Double
    /// Answers with a status of 400 or more, and connections that failed or waited too long.
    let failureCount: Int

    var values: [(unit: String, label: String, value: Double)] {
        [
            ("RequestsPerSecond", "requests/s", requestsPerSecond),
            ("P50Milliseconds", "p50, ms", p50Milliseconds),
            ("P99Milliseconds", "p99, ms", p99Milliseconds),
        ]
    }
}

/// How long something took.
struct TimeMeasurement: Measurement, Sendable {
    let p50Milliseconds: Double
    let p99Milliseconds: Double
    let failureCount = 0

    /// - Parameter times: Each time; at least one.
    init(_ times: [Duration]) {
        let sorted = times.map { $0 / .milliseconds(1) }.sorted()
        (p50Milliseconds, p99Milliseconds) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
    }

    var values: [(unit: String, label: String, value: Double)] {
        [("P50Milliseconds", "p50, ms", p50Milliseconds), ("P99Milliseconds", "p99, ms", p99Milliseconds)]
    }
}

/// pgbench's measurement of PostgreSQL, which has no failures: they end the run.
struct DatabaseMeasurement: Measurement, Sendable, Equatable {
    let transactionsPerSecond: Double
    let averageMilliseconds: Double

    var failureCount: Int { 0 }

    var values: [(unit: String, label: String, value: Double)] {
        [
            ("TransactionsPerSecond", "transactions/s", transactionsPerSecond),
            ("AverageMilliseconds", "average, ms", averageMilliseconds),
        ]
    }
}

/// The bytes that arrived, and the uploads that were not answered with success.
struct TransferMeasurement: Measurement, Sendable {
    let bytesPerSecond: Double
    let failureCount: Int

    var values: [(unit: String, label: String, value: Double)] {
        [("MegabytesPerSecond", "MB/s", bytesPerSecond / 1e6)]
    }
}
