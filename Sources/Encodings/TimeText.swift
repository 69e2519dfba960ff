/// Times as people write them: a number and `s`, `m`, `h` or `d`, such as `15m`.
package enum TimeText {
    private static let secondsByUnit: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]

    /// Reads a time.
    ///
    /// - Parameters:
    ///   - text: The time.
    ///   - numbers: The numbers that may stand before the unit.
    /// - Returns: The time in seconds; nil for any other text.
    package static func seconds(_ text: some StringProtocol, numbers: ClosedRange<Int>) -> Int? {
        guard let unit = text.last.flatMap({ secondsByUnit[$0] }), let number = Int(text.dropLast()),
            numbers.contains(number)
        else { return nil }
        return number * unit
    }

    /// The text of a time, with the largest unit that leaves no rest.
    package static func text(seconds: Int) -> String {
        let unit = secondsByUnit.filter { seconds % $0.value == 0 }.max { $0.value < $1.value }
        return unit.map { "\(seconds / $0.value)\($0.key)" } ?? "\(seconds)s"
    }
}
