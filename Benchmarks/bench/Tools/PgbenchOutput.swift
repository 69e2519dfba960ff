/// Reads pgbench's final output.
enum PgbenchOutput {
    /// Takes the figures out of pgbench's output.
    ///
    /// - Parameter output: All of it.
    /// - Returns: The figures, without the time that connecting takes.
    /// - Throws: `BenchError.unreadable` for one that is missing or malformed, or when a transaction failed.
    static func figures(_ output: String) throws(BenchError) -> DatabaseFigures {
        guard try figure("number of transactions actually processed:", output, { Int($0) }) > 0 else {
            throw .unreadable(figure: "number of transactions", output: output)
        }
        // Versions before 15 do not count these: there a failure ends the client, and pgbench with an error.
        if output.contains("number of failed transactions:") {
            let failed = try figure("number of failed transactions:", output) { Int($0) }
            guard failed == 0 else { throw .unreadable(figure: "run without failed transactions", output: output) }
        }
        return DatabaseFigures(
            transactionsPerSecond: try figure("tps =", output, positive),
            averageMilliseconds: try figure("latency average =", output, unit: "ms", positive)
        )
    }

    private static func positive(_ text: String) -> Double? {
        Double(text).flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
    }

    /// The word after a label, in the last line that begins with it.
    ///
    /// Older versions print the rate twice, and the one without the time for connecting comes last.
    private static func figure<Value>(
        _ label: String,
        _ output: String,
        unit: String? = nil,
        _ convert: (String) -> Value?
    ) throws(BenchError) -> Value {
        let line = output.split(separator: "\n").last { $0.hasPrefix(label) }
        let words = line?.dropFirst(label.count).split(separator: " ") ?? []
        // Some versions print `51234/51234`. The first number counts.
        guard let word = words.first?.split(separator: "/").first, let value = convert(String(word)),
            unit == nil || words.dropFirst().first == unit.map({ $0[...] })
        else { throw .unreadable(figure: label, output: output) }
        return value
    }
}
