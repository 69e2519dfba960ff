/// How often something may be done in a window of time.
package struct RateLimit: Sendable, Equatable {
    package let count: Int
    package let seconds: Int

    private static let secondsByUnit: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    private static let maxCount = 1_000_000
    /// A month.
    private static let maxSeconds = 30 * 86_400

    /// How a limit is written, for errors.
    package static let expected = """
        a count from 1 to \(maxCount), a slash and a time from 1s to 30d, in s, m, h or d, such as 10/15m
        """

    init(_ count: Int, per seconds: Int) {
        self.count = count
        self.seconds = seconds
    }

    /// Reads a limit such as `10/15m`: a count, and a number with s, m, h or d behind it.
    package init?(_ text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard !text.contains("+"), halves.count == 2, let count = Int(halves[0]), (1...Self.maxCount).contains(count),
            let unit = halves[1].last.flatMap({ Self.secondsByUnit[$0] }),
            let number = Int(halves[1].dropLast()), (1...Self.maxSeconds).contains(number),
            number * unit <= Self.maxSeconds
        else { return nil }
        self.init(count, per: number * unit)
    }
}
