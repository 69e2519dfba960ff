import Concurrency
import Curl

/// When a call must end, with all its attempts and side steps.
struct Deadline: Sendable {
    /// The call's start, or the store's last sign of life that counts.
    private let start: ContinuousClock.Instant
    let end: ContinuousClock.Instant
    /// Whether the store may be silent until the end.
    ///
    /// Some stores work through a list before they send a byte of their answer.
    private let allowsSilence: Bool
    private let clock: any MonotonicClock

    /// - Parameters:
    ///   - limit: How long the call may take, from now on.
    ///   - allowsSilence: Whether the store may be silent until the end.
    ///   - clock: The clock.
    init(in limit: Duration, allowsSilence: Bool = false, clock: any MonotonicClock = ContinuousClock()) {
        let now = clock.now
        self.init(start: now, end: now + limit, allowsSilence: allowsSilence, clock: clock)
    }

    private init(
        start: ContinuousClock.Instant,
        end: ContinuousClock.Instant,
        allowsSilence: Bool,
        clock: any MonotonicClock
    ) {
        (self.start, self.end, self.allowsSilence, self.clock) = (start, end, allowsSilence, clock)
    }

    /// The same end, with the store's silence counted from now: it has answered.
    func restarted() -> Self { restarted(at: clock.now) }

    /// The same end, with the store's silence counted from its last sign of life.
    func restarted(at instant: ContinuousClock.Instant) -> Self {
        Self(start: max(start, instant), end: end, allowsSilence: allowsSilence, clock: clock)
    }

    /// The time since the start.
    var elapsed: Duration { start.duration(to: clock.now) }

    /// How long the store may be silent in an attempt that begins now.
    private func silence(_ deadlines: S3Deadlines) -> Duration {
        if allowsSilence { return clock.now.duration(to: end) }
        // A later attempt gets the rest of the time for a silent store. It gets a second at least, since keys may have
        // been waited for.
        return max(.seconds(1), min(deadlines.giveUp - elapsed, deadlines.silence))
    }

    /// The limits of an attempt that begins now.
    func limits(_ deadlines: S3Deadlines) -> CurlDeadlines {
        var limits = CurlDeadlines(end: end)
        limits.connect = deadlines.connect
        limits.silence = silence(deadlines)
        limits.silenceInBody = deadlines.silence
        return limits
    }

    /// Whether more time than this is left.
    func hasTime(for duration: Duration = .zero) -> Bool { clock.now + duration < end }
}
