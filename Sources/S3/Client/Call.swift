/// When a call began and when it must end, with all its tries and side steps.
struct Call: Sendable {
    let start: ContinuousClock.Instant
    let end: ContinuousClock.Instant
    /// Whether the store may be silent until the end.
    ///
    /// Some stores work through a list before they send a byte of their answer.
    let mayBeSilent: Bool
    private let time: S3Time

    init(within limit: Duration, mayBeSilent: Bool = false, time: S3Time = .system) {
        self.init(start: time.now(), limit: limit, mayBeSilent: mayBeSilent, time: time)
    }

    private init(start: ContinuousClock.Instant, limit: Duration, mayBeSilent: Bool, time: S3Time) {
        self.start = start
        end = start + limit
        self.mayBeSilent = mayBeSilent
        self.time = time
    }

    /// The same end, begun now.
    ///
    /// The store has answered, so its silence counts from here.
    func restarted() -> Self { restarted(at: time.now()) }

    /// The same end, begun later, when the store last gave a sign of life.
    func restarted(at instant: ContinuousClock.Instant) -> Self {
        let start = max(start, instant)
        return Self(start: start, limit: start.duration(to: end), mayBeSilent: mayBeSilent, time: time)
    }

    var elapsed: Duration { start.duration(to: time.now()) }

    /// How long the store may be silent in a try that begins now.
    func silence(_ deadlines: S3Deadlines) -> Duration {
        if mayBeSilent { return time.now().duration(to: end) }
        // A later try gets the rest of the time for a silent store. Keys may have been waited for, so it gets a second at least.
        return max(.seconds(1), min(deadlines.giveUp - elapsed, deadlines.silence))
    }

    /// Whether more time than this is left.
    func hasTime(for duration: Duration = .zero) -> Bool { time.now() + duration < end }
}
