/// Decides whether a standby is asked.
///
/// A failure begins a pause. After it, one reader finds out whether the standby is back, and the others are not let through
/// meanwhile. Each such failure doubles the next pause.
struct StandbyHealth {
    /// Leave to ask the standby once.
    struct Attempt {
        /// How many pauses had begun.
        fileprivate let pauseCount: Int
    }

    /// The longest pause.
    private static let maxPause: Duration = .seconds(5)

    private var backOff = BackOff(longest: Self.maxPause)
    private var pauseCount = 0
    /// Whether a reader is finding out whether the standby is back.
    private var isProbed = false

    /// A reader wants to ask the standby.
    ///
    /// - Parameter now: The time.
    /// - Returns: Leave to do so, to be ended in any case; nil if the reader must not.
    mutating func attempt(now: ContinuousClock.Instant) -> Attempt? {
        if backOff.isFailing {
            guard !isProbed, backOff.allowsAttempt(now: now) else { return nil }
            isProbed = true
        }
        return Attempt(pauseCount: pauseCount)
    }

    /// The standby has answered an attempt, which is ended by that.
    mutating func answered() {
        backOff.reset()
        isProbed = false
    }

    /// An attempt has ended without an answer that can be used.
    ///
    /// Of several that fail at once, the first begins the pause. The others say nothing new.
    ///
    /// - Parameters:
    ///   - attempt: Which.
    ///   - isOutage: Whether the standby was at fault.
    ///   - now: The time.
    ///   - jitter: 0 to 1: how much of half the pause is taken off.
    mutating func ended(_ attempt: Attempt, isOutage: Bool, now: ContinuousClock.Instant, jitter: Double) {
        guard attempt.pauseCount == pauseCount else { return }
        isProbed = false
        guard isOutage else { return }
        pauseCount += 1
        backOff.failed(now: now, jitter: jitter)
    }
}
