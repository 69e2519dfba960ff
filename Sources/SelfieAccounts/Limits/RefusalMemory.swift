import Synchronization

/// Remembers refusals for a moment, so that a flood of calls costs one statement a second.
final class RefusalMemory: Sendable {
    private struct Refusal {
        let name: RateLimitName
        let limit: RateLimit
        let windowEnd: ContinuousClock.Instant
        let forgetting: ContinuousClock.Instant
    }

    private let refusals = Mutex<[String: Refusal]>([:])

    /// How long a refusal is remembered.
    ///
    /// A count that another process has undone may be seen as late.
    static let duration: Duration = .seconds(1)
    /// The most refusals to remember.
    static let maxCount = 10_000

    /// Remembers that a key was refused.
    ///
    /// - Parameters:
    ///   - key: What was counted.
    ///   - exceeded: The refusal.
    ///   - now: The time.
    func remember(_ key: String, _ exceeded: RateLimitExceeded, now: ContinuousClock.Instant) {
        let refusal = Refusal(
            name: exceeded.name,
            limit: exceeded.limit,
            windowEnd: now + .seconds(exceeded.secondsLeft),
            forgetting: now + Self.duration
        )
        refusals.withLock { refusals in
            if refusals.count >= Self.maxCount { refusals = refusals.filter { $0.value.forgetting > now } }
            if refusals.count < Self.maxCount { refusals[key] = refusal }
        }
    }

    /// The refusal of a key that was refused a moment ago.
    ///
    /// - Parameters:
    ///   - key: What would be counted.
    ///   - now: The time.
    /// - Returns: The refusal; nil when the key must be counted.
    func refusal(of key: String, now: ContinuousClock.Instant) -> RateLimitExceeded? {
        let found = refusals.withLock { $0[key] }
        guard let found, found.forgetting > now else { return nil }
        let (seconds, fraction) = (found.windowEnd - now).components
        return RateLimitExceeded(
            name: found.name,
            limit: found.limit,
            secondsLeft: max(1, Int(seconds) + (fraction > 0 ? 1 : 0))
        )
    }

    /// Forgets keys whose count was undone.
    func forget(_ keys: [String]) {
        refusals.withLock { refusals in
            for key in keys { refusals[key] = nil }
        }
    }
}
