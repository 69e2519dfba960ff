import Foundation

/// A run's results, for people and for programs.
struct Report {
    private let results: Results

    init(_ results: Results) {
        self.results = results
    }

    /// The table.
    ///
    /// It is printed, too.
    var markdown: String {
        let machine = results.machine
        let ratios = results.ratios.map { "| \($0.title) | \(Self.values($0, digits: 2)) | \($0.goal ?? "") |" }
        let rows = results.rows.map { "| \($0.title) | \(Self.values($0)) |" }
        return """
            \(results.date.formatted(.iso8601)) · \(machine.cores) cores (\(machine.processor)), shared by load \
            generator, service and database, \(Self.text(results.settings.othersBusyPercent, digits: 0)) % busy with \
            other things · \(machine.kernel) · PostgreSQL \(results.versions.postgreSQL) · \
            \(results.settings.rounds) rounds of \(results.settings.secondsPerMeasurement) s a measurement

            | ratio | median | lowest to highest | goal |
            |---|---|---|---|
            \(ratios.joined(separator: "\n"))

            | measurement | median | lowest to highest |
            |---|---|---|
            \(rows.joined(separator: "\n"))
            | Answers but 2xx, broken connections | \(results.failureCount) | |

            """
    }

    /// Every measurement, the medians and the ratios.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(
            Document(
                date: results.date,
                machine: results.machine,
                versions: results.versions,
                settings: results.settings,
                rounds: Dictionary(uniqueKeysWithValues: results.rows.map { ($0.key, $0.values) }),
                failureCount: results.failureCount,
                failures: results.failures,
                medians: Self.medians(results.rows),
                medianRatios: Self.medians(results.ratios)
            )
        )
    }

    /// Writes `results.md` and `results.json`.
    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try json().write(to: folder.appending(path: "results.json"))
        try Data(markdown.utf8).write(to: folder.appending(path: "results.md"))
    }

    /// A number for people: at least three significant digits, with commas between thousands.
    private static func text(_ value: Double, digits: Int? = nil) -> String {
        let digits = digits ?? (value >= 100 || value == value.rounded() ? 0 : value >= 10 ? 1 : 2)
        return value.formatted(.number.locale(Locale(identifier: "en_US")).precision(.fractionLength(digits)))
    }

    /// The median, and from the lowest to the highest value of the rounds.
    private static func values(_ row: ResultRow, digits: Int? = nil) -> String {
        guard let median = row.median, let low = row.values.min(), let high = row.values.max() else {
            return "not measured |"
        }
        let spread = row.values.count > 1 ? "\(text(low, digits: digits)) to \(text(high, digits: digits))" : ""
        return "\(text(median, digits: digits)) | \(spread)"
    }

    private static func medians(_ rows: [ResultRow]) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.median) }).compactMapValues { $0 }
    }

    private struct Document: Encodable {
        let date: Date
        let machine: Machine
        let versions: Versions
        let settings: Results.Settings
        /// The values of each row, one for each round, or one for all.
        let rounds: [String: [Double]]
        let failureCount: Int
        let failures: [String: Int]
        let medians: [String: Double]
        let medianRatios: [String: Double]
    }
}
