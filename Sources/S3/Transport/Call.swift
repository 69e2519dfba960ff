/// When a call began and when it must be over, all its tries and side steps included.
struct Call: Sendable {
    let start: ContinuousClock.Instant
    let end: ContinuousClock.Instant

    init(within limit: Duration) {
        self.init(start: .now, limit: limit)
    }

    private init(start: ContinuousClock.Instant, limit: Duration) {
        self.start = start
        end = start + limit
    }

    /// The same end, begun now: the store has answered, so its silence counts from here.
    func restarted() -> Self { restarted(at: .now) }

    /// The same end, begun later, when the store last gave a sign of life.
    func restarted(at instant: ContinuousClock.Instant) -> Self {
        let start = max(start, instant)
        return Self(start: start, limit: start.duration(to: end))
    }

    var elapsed: Duration { start.duration(to: .now) }
}
