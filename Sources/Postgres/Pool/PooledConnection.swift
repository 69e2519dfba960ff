/// What a pool knows of one connection.
struct PooledConnection {
    private enum Use: Equatable {
        case opening
        case idle(since: ContinuousClock.Instant)
        /// Lent to this caller.
        case leased(PoolStateMachine.WaiterID)
        /// A statement is under way that belongs to no lease, or what a lease has left.
        case busy
    }

    let id: PoolStateMachine.ConnectionID
    private var use = Use.opening
    private var retirement: ContinuousClock.Instant?

    init(id: PoolStateMachine.ConnectionID) {
        self.id = id
    }

    var isOpen: Bool { use != .opening }

    var isIdle: Bool { if case .idle = use { true } else { false } }

    /// The lease that it is lent for.
    var lease: PoolStateMachine.WaiterID? { if case .leased(let id) = use { id } else { nil } }

    mutating func open(now: ContinuousClock.Instant, retirement: ContinuousClock.Instant) {
        use = .idle(since: now)
        self.retirement = retirement
    }

    mutating func lend(for lease: PoolStateMachine.WaiterID) { use = .leased(lease) }

    mutating func take() { use = .busy }

    mutating func release(now: ContinuousClock.Instant) {
        if use == .busy { use = .idle(since: now) }
    }

    /// Has it closed once it is idle.
    mutating func retire(now: ContinuousClock.Instant) { retirement = now }

    func isOld(now: ContinuousClock.Instant) -> Bool {
        retirement.map { $0 <= now } ?? false
    }

    /// When to close an idle connection: when it is old, or idle for long and the pool may shrink.
    func closing(_ limits: PoolLimits, mayShrink: Bool) -> ContinuousClock.Instant? {
        guard case .idle(let since) = use, let retirement else { return nil }
        return mayShrink ? min(retirement, since + limits.idleTimeout) : retirement
    }
}
