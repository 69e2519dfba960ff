/// When a delivery is tried again.
package enum DeliverySchedule {
    /// The pauses after the first try, after the second, and so on, in seconds.
    private static let pauses: [Double] = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
    /// How much shorter or longer a pause may be, so that many deliveries do not come at once.
    private static let jitter = -0.2...0.2

    /// How many tries a delivery has.
    package static let maxTryCount = pauses.count + 1

    /// The pause after a try that failed.
    ///
    /// - Parameters:
    ///   - tryCount: How often it was tried.
    ///   - retryAfter: How long the other side asks to wait; obeyed up to twice the usual pause.
    ///   - random: Gives a number of the range.
    /// - Returns: nil when it is not tried again.
    package static func pause(
        afterTry tryCount: Int,
        retryAfter: Duration? = nil,
        random: (ClosedRange<Double>) -> Double = { .random(in: $0) }
    ) -> Duration? {
        guard pauses.indices.contains(tryCount - 1) else { return nil }
        let usual = pauses[tryCount - 1]
        let asked = retryAfter.map { min($0 / .seconds(1), 2 * usual) } ?? 0
        // Who is asked to wait for a minute may wait longer, but not shorter.
        return .seconds(max(usual * (1 + random(jitter)), asked))
    }
}
