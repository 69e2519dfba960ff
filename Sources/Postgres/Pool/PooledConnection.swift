/// What a pool knows of one connection.
struct PooledConnection {
    private enum Use: Equatable {
        case opening
        /// This many statements of different callers are under way; 0 means idle.
        case shared(Int)
        case leased
    }

    let id: PoolStateMachine.ConnectionID
    /// Whether it takes no more users for now.
    var isBlocked = false
    private var use = Use.opening
    /// When it became idle, or when its oldest statement began.
    private var since: ContinuousClock.Instant?
    private var retirement: ContinuousClock.Instant?

    init(id: PoolStateMachine.ConnectionID) {
        self.id = id
    }

    var isOpen: Bool { use != .opening }

    var isLeased: Bool { use == .leased }

    var isIdle: Bool { use == .shared(0) && !isBlocked }

    /// How many statements are under way.
    var load: Int {
        if case .shared(let count) = use { count } else { 0 }
    }

    /// Whether one more statement may join.
    ///
    /// It is answered after those that are under way.
    ///
    /// A connection with a slow statement takes no more, so that no other waits behind it.
    func canShare(_ limits: PoolLimits, now: ContinuousClock.Instant) -> Bool {
        guard case .shared(let count) = use, !isBlocked, !isOld(now: now) else { return false }
        if count == 0 { return true }
        return count < limits.pipelineDepth && !isSlow(limits, now: now)
    }

    mutating func open(now: ContinuousClock.Instant, retirement: ContinuousClock.Instant) {
        use = .shared(0)
        since = now
        self.retirement = retirement
    }

    mutating func take(_ demand: PoolStateMachine.Demand, now: ContinuousClock.Instant) {
        if load == 0 { since = now }
        use = demand == .lease ? .leased : .shared(load + 1)
    }

    mutating func release(now: ContinuousClock.Instant) {
        use = .shared(max(0, load - 1))
        since = now
    }

    mutating func giveBack(now: ContinuousClock.Instant) {
        use = .shared(0)
        since = now
    }

    func isOld(now: ContinuousClock.Instant) -> Bool {
        retirement.map { $0 <= now } ?? false
    }

    /// When to close an idle connection: when it is old, or idle for long and the pool may shrink.
    func closing(_ limits: PoolLimits, mayShrink: Bool) -> ContinuousClock.Instant? {
        guard isIdle, let since, let retirement else { return nil }
        return mayShrink ? min(retirement, since + limits.idleTimeout) : retirement
    }

    /// When a shared connection counts as slow, so that another should be opened.
    func becomesSlow(_ limits: PoolLimits, after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard load > 0, let since, since + limits.slowness > now else { return nil }
        return since + limits.slowness
    }

    private func isSlow(_ limits: PoolLimits, now: ContinuousClock.Instant) -> Bool {
        since.map { $0 + limits.slowness <= now } ?? false
    }
}
