/// When to ask the server to cancel a statement that no caller waits for any longer.
struct Cancellation {
    enum Due {
        case nothing
        case send
        /// The server has not heeded the requests.
        case giveUp
    }

    private struct Requests {
        /// When the statement to cancel began.
        let start: ContinuousClock.Instant
        let firstSent: ContinuousClock.Instant
        var lastSent: ContinuousClock.Instant?
    }

    private(set) var isBeingSent = false
    private var requests: Requests?

    /// Most statements end sooner than a request to cancel them would arrive: it needs a connection of its own.
    private static let patience: Duration = .milliseconds(20)
    private static let pause: Duration = .milliseconds(250)
    private static let giveUpAfter: Duration = .seconds(2)

    mutating func due(runningSince start: ContinuousClock.Instant, now: ContinuousClock.Instant) -> Due {
        let earlier = requests(since: start)
        if let earlier, earlier.firstSent + Self.giveUpAfter <= now { return .giveUp }
        guard !isBeingSent, nextSend(runningSince: start) <= now else { return .nothing }
        isBeingSent = true
        requests = earlier ?? Requests(start: start, firstSent: now)
        return .send
    }

    func nextDeadline(runningSince start: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let giveUp = requests(since: start).map { $0.firstSent + Self.giveUpAfter }
        return isBeingSent ? giveUp : earlier(nextSend(runningSince: start), giveUp)
    }

    /// A request has been sent, and the server has taken note.
    mutating func sent(now: ContinuousClock.Instant) {
        isBeingSent = false
        requests?.lastSent = now
    }

    private func nextSend(runningSince start: ContinuousClock.Instant) -> ContinuousClock.Instant {
        requests(since: start)?.lastSent.map { $0 + Self.pause } ?? (start + Self.patience)
    }

    /// The requests for the statement that began then; those for other statements do not count.
    private func requests(since start: ContinuousClock.Instant) -> Requests? {
        requests.flatMap { $0.start == start ? $0 : nil }
    }
}
