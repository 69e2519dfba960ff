/// Reads pgbench's final output.
enum PgbenchOutput {
    /// Reads the measurement from pgbench's output.
    ///
    /// - Parameter output: All of it.
    /// - Returns: The measurement, without the time that connecting takes.
    /// - Throws: `BenchError.unreadable` for one that is missing or malformed, or when a transaction failed.
    static func measurement(_ output: String) throws(BenchError) -> DatabaseMeasurement {
        guard try number("number of transactions actually processed:", output, { Int($0) }) > 0 else {
            throw .unreadable(value: "number of transactions", output: output)
        }
        // Versions before 15 do not count these: there a failure ends the client, and pgbench with an error.
        if output.contains("number of failed transactions:") {
            let failed = try number("number of failed transactions:", output) { Int($0) }
            guard failed == 0 else { throw .unreadable(value: "run without failed transactions", output: output) }
        }
        return DatabaseMeasurement(
            transactionsPerSecond: try number("tps =", output, positive),
            averageMilliseconds: try number("latency average =", output, unit: "ms", positive)
        )
    }

    private static func positive(_ text: String) -> Double? {
        Double(text).flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
    }

    /// The word after a label, in the last line that begins with it.
    ///
    /// Older versions print the rate twice, and the one without the time for connecting comes last.
    private static func number<Value>(
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
        else { throw .unreadable(value: label, output: output) }
        return value
    }
}
