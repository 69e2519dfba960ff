/// An instant by which a call must have ended; never, when it has none.
struct Deadline {
    private let instant: ContinuousClock.Instant?

    /// - Parameter timeout: How long from now; nil for no limit.
    init(after timeout: Duration?) {
        instant = timeout.map { ContinuousClock.now + $0 }
    }

    /// The time left in `poll`'s terms: -1 for no limit, rounded up so that a wait never ends early.
    var millisecondsLeft: Int32 {
        guard let instant else { return -1 }
        let left = (instant - .now).components
        let milliseconds = left.seconds * 1000 + (left.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(0, milliseconds))
    }
}
