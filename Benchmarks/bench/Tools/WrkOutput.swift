/// Reads the output of wrk with `--latency`.
struct WrkOutput {
    private let text: String

    /// Reads the measurement from wrk's output.
    ///
    /// - Parameter text: All of it.
    /// - Returns: The measurement; counts of failures that wrk leaves out are 0.
    /// - Throws: `BenchError.unreadable` for one that is missing or malformed, or when no request was answered.
    static func measurement(_ text: String) throws(BenchError) -> LoadMeasurement {
        let output = WrkOutput(text: text)
        guard try output.number(before: " requests in ") > 0 else {
            throw .unreadable(value: "count of requests", output: text)
        }
        return LoadMeasurement(
            requestsPerSecond: try output.value("Requests/sec:", count),
            p50Milliseconds: try output.value("50%", milliseconds),
            p99Milliseconds: try output.value("99%", milliseconds),
            failureCount: try output.failures("Non-2xx or 3xx responses:", names: [""])
                + output.failures("Socket errors:", names: ["connect", "read", "write", "timeout"])
        )
    }

    /// A duration such as `870.00us`, `3.05ms`, `1.20s`, `1.50m` or `1.00h`, in milliseconds.
    static func milliseconds(_ text: Substring) -> Double? {
        scaled(text, ["us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000])
    }

    /// A number such as `985.32` or `5.30k`.
    static func count(_ text: Substring) -> Double? {
        scaled(text, ["": 1, "k": 1e3, "M": 1e6, "G": 1e9])
    }

    private static func scaled(_ text: Substring, _ units: [Substring: Double]) -> Double? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = Double(digits), let unit = units[text[digits.endIndex...]] else { return nil }
        return number * unit
    }

    /// The text after a label, in the first line that begins with it.
    private func rest(_ label: String) -> Substring? {
        text.split(separator: "\n").lazy.map { $0.drop { $0 == " " } }
            .first { $0.hasPrefix(label) }?.dropFirst(label.count).drop { $0 == " " }
    }

    private func value(_ label: String, _ convert: (Substring) -> Double?) throws(BenchError) -> Double {
        // wrk pads some units with a space at the end of the line.
        guard let word = rest(label)?.split(separator: " ").first, let value = convert(word) else {
            throw .unreadable(value: label, output: text)
        }
        return value
    }

    private func number(before label: String) throws(BenchError) -> Int {
        let line = text.split(separator: "\n").first { $0.contains(label) }
        guard let word = line?.split(separator: " ").first, let number = Int(word) else {
            throw .unreadable(value: "count of requests", output: text)
        }
        return number
    }

    /// The sum of the counts in a line such as `connect 0, read 3`, which wrk prints only if one is not 0.
    private func failures(_ label: String, names: [String]) throws(BenchError) -> Int {
        guard let rest = rest(label) else { return 0 }
        let parts = rest.split(separator: ",").map { $0.split(separator: " ") }
        let counts = zip(parts, names).compactMap { words, name in
            words.dropLast().joined() == name ? words.last.flatMap { Int($0) } : nil
        }
        guard counts.count == names.count, parts.count == names.count else {
            throw .unreadable(value: label, output: text)
        }
        return counts.reduce(0, +)
    }
}
