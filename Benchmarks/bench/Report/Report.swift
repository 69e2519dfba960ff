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
        let ratios = results.ratios.map { figure in
            "| \(figure.title) | \(Self.text(figure.median, digits: 2)) | \(spread(figure, digits: 2)) | \(figure.goal ?? "") |"
        }
        let figures = results.figures.map { figure in
            "| \(figure.title) | \(Self.text(figure.median)) | \(spread(figure)) |"
        }
        return """
            \(results.date.formatted(.iso8601)) · \(machine.cores) cores (\(machine.processor)), shared by load \
            generator, service and database, \(Self.text(results.settings.othersBusyPercent, digits: 0)) % busy with \
            other things · \(machine.kernel) · PostgreSQL \(results.versions.postgreSQL) · \
            \(results.settings.rounds) rounds of \(results.settings.secondsPerMeasurement) s a measurement

            | ratio | median | lowest to highest | wanted |
            |---|---|---|---|
            \(ratios.joined(separator: "\n"))

            | figure | median | lowest to highest |
            |---|---|---|
            \(figures.joined(separator: "\n"))

            """
    }

    /// Every measurement, the medians and the ratios.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(
            Document(
                results: results,
                medians: Self.medians(results.figures),
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
    static func text(_ value: Double, digits: Int? = nil) -> String {
        let digits = digits ?? (value >= 100 || value == value.rounded() ? 0 : value >= 10 ? 1 : 2)
        return value.formatted(.number.locale(Locale(identifier: "en_US")).precision(.fractionLength(digits)))
    }

    private func spread(_ figure: Figure, digits: Int? = nil) -> String {
        guard figure.values.count > 1, let low = figure.values.min(), let high = figure.values.max() else { return "" }
        return "\(Self.text(low, digits: digits)) to \(Self.text(high, digits: digits))"
    }

    private static func medians(_ figures: [Figure]) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: figures.map { ($0.key, $0.median) })
    }

    private struct Document: Encodable {
        let results: Results
        let medians: [String: Double]
        let medianRatios: [String: Double]
    }
}
