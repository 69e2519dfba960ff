import Foundation

/// Everything that a run measured.
struct Results: Sendable {
    struct Settings: Encodable, Sendable {
        let rounds: Int
        let secondsPerMeasurement: Int
        /// How busy other programs kept the machine before the first measurement.
        let othersBusyPercent: Double
    }

    let date: Date
    let machine: Machine
    let versions: Versions
    let settings: Settings
    /// In the order in which they were first added.
    private(set) var rows: [ResultRow] = []
    /// The number of requests without a 2xx answer, by the measurement's key; without those where all succeeded.
    private(set) var failures: [String: Int] = [:]

    /// The number of requests in all measurements without a 2xx answer.
    var failureCount: Int { failures.values.reduce(0, +) }

    /// The ratios of each round.
    ///
    /// A disturbance of a whole round changes them little.
    var ratios: [ResultRow] {
        let values = Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.values) })
        return Ratio.all.map { $0.row(values) }
    }

    /// Adds what a round has measured.
    ///
    /// - Parameters:
    ///   - key: Begins the keys of its rows in `results.json`.
    ///   - title: Begins their titles.
    ///   - measured: The measurement of this round.
    mutating func add(_ key: String, _ title: String, _ measured: some Measurement) {
        for (unit, label, value) in measured.values { add(key + unit, "\(title): \(label)", value) }
        if measured.failureCount > 0 { failures[key, default: 0] += measured.failureCount }
    }

    /// Adds a round's value of one row.
    mutating func add(_ key: String, _ title: String, _ value: Double) {
        if let index = rows.firstIndex(where: { $0.key == key }) {
            rows[index].values.append(value)
        } else {
            rows.append(ResultRow(key: key, title: title, values: [value]))
        }
    }
}
