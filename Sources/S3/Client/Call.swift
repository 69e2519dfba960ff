/// When a call began and when it must end, with all its tries and side steps.
struct Call: Sendable {
    let start: ContinuousClock.Instant
    let end: ContinuousClock.Instant
    private let time: S3Time

    init(within limit: Duration, time: S3Time = .system) {
        self.init(start: time.now(), limit: limit, time: time)
    }

    private init(start: ContinuousClock.Instant, limit: Duration, time: S3Time) {
        self.start = start
        end = start + limit
        self.time = time
    }

    /// The same end, begun now.
    ///
    /// The store has answered, so its silence counts from here.
    func restarted() -> Self { restarted(at: time.now()) }

    /// The same end, begun later, when the store last gave a sign of life.
    func restarted(at instant: ContinuousClock.Instant) -> Self {
        let start = max(start, instant)
        return Self(start: start, limit: start.duration(to: end), time: time)
    }

    var elapsed: Duration { start.duration(to: time.now()) }

    /// Whether more time than this is left.
    func hasTime(for duration: Duration = .zero) -> Bool { time.now() + duration < end }
}
