import Encodings

/// How often something may be done in a window of time.
package struct RateLimit: Sendable, Equatable {
    package let count: Int
    package let seconds: Int

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

    /// So many times as much in the same window.
    func times(_ factor: Int) -> RateLimit { RateLimit(count * factor, per: seconds) }

    /// Reads a limit such as `10/15m`: a count, and a number with s, m, h or d behind it.
    package init?(_ text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard !text.contains("+"), halves.count == 2, let count = Int(halves[0]), (1...Self.maxCount).contains(count),
            let seconds = TimeText.seconds(halves[1], numbers: 1...Self.maxSeconds), seconds <= Self.maxSeconds
        else { return nil }
        self.init(count, per: seconds)
    }
}
