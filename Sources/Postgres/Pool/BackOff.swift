/// Pauses between attempts.
///
/// They double with each failure up to a limit, and a random part is taken off.
struct BackOff {
    private static let shortest: Duration = .milliseconds(50)

    let longest: Duration
    private var failures = 0
    private(set) var nextAttempt: ContinuousClock.Instant?

    init(longest: Duration) {
        self.longest = longest
    }

    /// Whether the last attempt failed.
    var isFailing: Bool { failures > 0 }

    func allowsAttempt(now: ContinuousClock.Instant) -> Bool {
        nextAttempt.map { $0 <= now } ?? true
    }

    /// - Parameters:
    ///   - now: The time.
    ///   - jitter: 0 to 1: how much of half the pause is taken off, so that clients do not all come back at once.
    mutating func failed(now: ContinuousClock.Instant, jitter: Double) {
        let pause = min(Self.shortest * (1 << min(failures, 16)), longest)
        failures += 1
        nextAttempt = now + pause * (1 - 0.5 * jitter)
    }

    mutating func reset() {
        failures = 0
        nextAttempt = nil
    }
}
