/// When to ask the server to cancel the statement that runs, although nobody waits for it any longer.
struct Cancellation {
    enum Due {
        case nothing
        case send
        /// The server has not heeded the requests.
        case giveUp
    }

    private(set) var isBeingSent = false
    /// When the first request for the statement that runs was sent.
    private var firstSent: ContinuousClock.Instant?
    private var lastSent: ContinuousClock.Instant?

    /// Most statements end sooner than a request for their end, which is a connection of its own, would take.
    private static let patience: Duration = .milliseconds(20)
    private static let pause: Duration = .milliseconds(250)
    private static let giveUpAfter: Duration = .seconds(2)

    mutating func due(runningSince start: ContinuousClock.Instant, now: ContinuousClock.Instant) -> Due {
        if let firstSent, firstSent + Self.giveUpAfter <= now { return .giveUp }
        guard !isBeingSent, nextSend(runningSince: start) <= now else { return .nothing }
        isBeingSent = true
        firstSent = firstSent ?? now
        return .send
    }

    func nextDeadline(runningSince start: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let giveUp = firstSent.map { $0 + Self.giveUpAfter }
        return isBeingSent ? giveUp : earlier(nextSend(runningSince: start), giveUp)
    }

    /// A request has been sent, and the server has taken note.
    mutating func sent(now: ContinuousClock.Instant) {
        isBeingSent = false
        lastSent = now
    }

    /// The statement has ended, and another may be running.
    mutating func headEnded() {
        firstSent = nil
        lastSent = nil
    }

    private func nextSend(runningSince start: ContinuousClock.Instant) -> ContinuousClock.Instant {
        lastSent.map { $0 + Self.pause } ?? (start + Self.patience)
    }
}
