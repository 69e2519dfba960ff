import DequeModule

/// Decides who may use which connection, and which to open and close.
///
/// It does no I/O.
///
/// A waiter wants to run one statement and shares a connection for it. Or it wants a lease: a connection to itself.
/// Waiters are served in the order in which they came. Where there are more than two connections, one is never leased.
/// So a flood of leases does not keep readers out, and statements do not wait behind leases. Events change the state.
/// Then the owner carries out ``nextAction(now:)`` until there is none.
struct PoolStateMachine {
    typealias WaiterID = UInt64
    typealias ConnectionID = UInt64

    enum Demand: Equatable {
        case statement
        case lease
    }

    enum Refusal: Equatable {
        case timedOut
        case cannotConnect
        case closed
    }

    enum Action: Equatable {
        /// Let the waiter, who has been waiting since then, use the connection.
        case assign(WaiterID, ConnectionID, since: ContinuousClock.Instant)
        case refuse(WaiterID, Refusal)
        case open(ConnectionID)
        /// Close a connection that is not in use.
        case close(ConnectionID)
    }

    private struct Waiter {
        let id: WaiterID
        /// In the order in which all came.
        let number: Int
        let start: ContinuousClock.Instant
        let deadline: ContinuousClock.Instant
    }

    private let limits: PoolLimits
    private var connections: [PooledConnection] = []
    /// Those who want to run a statement before all others.
    private var urgent: Deque<Waiter> = []
    private var statements: Deque<Waiter> = []
    private var leases: Deque<Waiter> = []
    private var lastNumber = 0
    /// The last waiter who was there when connecting failed.
    private var lastCondemned = 0
    private var backOff: BackOff
    private var nextConnectionID: ConnectionID = 1
    private var isClosed = false

    init(limits: PoolLimits) {
        self.limits = limits
        backOff = BackOff(longest: limits.maxBackOff)
    }

    var connectionCount: Int { connections.count }
    var waiterCount: Int { urgent.count + statements.count + leases.count }

    /// A caller wants to run one statement before all others.
    mutating func requestFirst(as id: WaiterID, now: ContinuousClock.Instant) {
        lastNumber += 1
        urgent.append(Waiter(id: id, number: lastNumber, start: now, deadline: now + limits.leaseTimeout))
    }

    /// A caller asks for a connection; false when too many are waiting for the same already.
    mutating func request(_ demand: Demand, as id: WaiterID, now: ContinuousClock.Instant) -> Bool {
        let count = demand == .lease ? leases.count : statements.count
        guard count < limits.maxWaiters else { return false }
        lastNumber += 1
        let waiter = Waiter(id: id, number: lastNumber, start: now, deadline: now + limits.leaseTimeout)
        if demand == .lease { leases.append(waiter) } else { statements.append(waiter) }
        return true
    }

    /// A caller stops waiting; false when it no longer is.
    mutating func cancel(_ id: WaiterID) -> Bool {
        if let position = urgent.firstIndex(where: { $0.id == id }) {
            urgent.remove(at: position)
        } else if let position = statements.firstIndex(where: { $0.id == id }) {
            statements.remove(at: position)
        } else if let position = leases.firstIndex(where: { $0.id == id }) {
            leases.remove(at: position)
        } else {
            return false
        }
        return true
    }

    /// A connection is open.
    ///
    /// - Parameters:
    ///   - id: Which.
    ///   - now: The time.
    ///   - jitter: 0 to 1: how much earlier it is replaced, so that not all connections are replaced at once.
    mutating func opened(_ id: ConnectionID, now: ContinuousClock.Instant, jitter: Double) {
        backOff.reset()
        let retirement = now + limits.lifetime * (1 - 0.1 * jitter)
        update(id) { $0.open(now: now, retirement: retirement) }
    }

    /// A connection could not be opened.
    ///
    /// Waiters get the error, unless another connection can serve them.
    mutating func failedToOpen(_ id: ConnectionID, now: ContinuousClock.Instant, jitter: Double) {
        connections.removeAll { $0.id == id }
        backOff.failed(now: now, jitter: jitter)
        if connections.isEmpty { lastCondemned = lastNumber }
    }

    /// A statement that shared a connection has ended.
    mutating func released(_ id: ConnectionID, now: ContinuousClock.Instant) {
        update(id) { $0.release(now: now) }
    }

    /// A lease has ended, and its connection is as good as new.
    mutating func returned(_ id: ConnectionID, now: ContinuousClock.Instant) {
        update(id) { $0.giveBack(now: now) }
    }

    /// A connection takes no more users until it is unblocked.
    mutating func setBlocked(_ id: ConnectionID, _ isBlocked: Bool) {
        update(id) { $0.isBlocked = isBlocked }
    }

    /// A connection is lost, whether it was in use or not.
    mutating func lost(_ id: ConnectionID) {
        connections.removeAll { $0.id == id }
    }

    /// Closes the pool: waiters are refused, and each connection closes as soon as it is free.
    mutating func close() {
        isClosed = true
    }

    /// What is to be done next; nil when nothing is.
    mutating func nextAction(now: ContinuousClock.Instant) -> Action? {
        if let refusal = refusal(now: now) { return refusal }
        if let demand = turn, let index = choice(for: demand, now: now) {
            connections[index].take(demand, now: now)
            let waiter = demand == .lease ? leases.removeFirst() : urgent.popFirst() ?? statements.removeFirst()
            return .assign(waiter.id, connections[index].id, since: waiter.start)
        }
        if waiterCount > 0, mayOpen(now: now) { return open() }
        return retirement(now: now)
    }

    /// When ``nextAction(now:)`` may have something to say although nothing happened.
    func nextDeadline(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let mayShrink = connections.count > limits.minConnections
        var deadline: ContinuousClock.Instant?
        for connection in connections {
            deadline = earlier(deadline, connection.closing(limits, mayShrink: mayShrink))
            if waiterCount > 0 { deadline = earlier(deadline, connection.becomesSlow(limits, after: now)) }
        }
        guard waiterCount > 0 else { return deadline }
        if let retry = backOff.nextAttempt, retry > now { deadline = earlier(deadline, retry) }
        return earlier(earlier(deadline, first?.deadline), urgent.first?.deadline)
    }

    /// Who of all that are not urgent came first.
    private var first: Waiter? {
        guard let statement = statements.first, let lease = leases.first else {
            return statements.first ?? leases.first
        }
        return statement.number < lease.number ? statement : lease
    }

    /// How many more connections may be leased.
    ///
    /// While no more can be opened, one is reserved for readers.
    private var leasable: Int {
        let keepsOne = backOff.isFailing && limits.maxLeases < limits.maxConnections
        let most = keepsOne ? max(1, connections.count(where: \.isOpen) - 1) : limits.maxLeases
        return max(0, min(most, limits.maxLeases) - connections.count(where: \.isLeased))
    }

    /// What the next waiter wants: the first that came, or the first statement when no more may be leased.
    private var turn: Demand? {
        if !urgent.isEmpty { return .statement }
        guard let lease = leases.first, leasable > 0 else { return statements.isEmpty ? nil : .statement }
        return statements.first.map { $0.number < lease.number } ?? false ? .statement : .lease
    }

    private mutating func refusal(now: ContinuousClock.Instant) -> Action? {
        refusal(of: urgent.first, now: now) ?? refusal(of: first, now: now)
    }

    private mutating func refusal(of waiter: Waiter?, now: ContinuousClock.Instant) -> Action? {
        guard let waiter else { return nil }
        let reason: Refusal
        if isClosed {
            reason = .closed
        } else if waiter.number <= lastCondemned {
            reason = .cannotConnect
        } else if waiter.deadline <= now {
            reason = backOff.isFailing && !connections.contains(where: \.isOpen) ? .cannotConnect : .timedOut
        } else {
            return nil
        }
        _ = cancel(waiter.id)
        return .refuse(waiter.id, reason)
    }

    private func choice(for demand: Demand, now: ContinuousClock.Instant) -> Int? {
        switch demand {
        case .lease:
            return connections.lastIndex { $0.isIdle && !$0.isOld(now: now) }
        case .statement:
            var choice: Int?
            for index in connections.indices where connections[index].canShare(limits, now: now) {
                guard let best = choice, connections[best].load <= connections[index].load else {
                    choice = index
                    continue
                }
            }
            return choice
        }
    }

    private func mayOpen(now: ContinuousClock.Instant) -> Bool {
        guard connections.count < limits.maxConnections, backOff.allowsAttempt(now: now) else { return false }
        let opening = connections.count { !$0.isOpen }
        // While the server can't be reached, one attempt at a time is enough.
        if backOff.isFailing { return opening == 0 }
        let wantedByLeases = min(leases.count, leasable)
        return opening < wantedByLeases + (urgent.count + statements.count + limits.pipelineDepth - 1)
            / limits.pipelineDepth
    }

    private mutating func open() -> Action {
        defer { nextConnectionID += 1 }
        connections.append(PooledConnection(id: nextConnectionID))
        return .open(nextConnectionID)
    }

    /// Closes idle connections that are old or were idle for long.
    ///
    /// `minConnections` of the latter stay open.
    private mutating func retirement(now: ContinuousClock.Instant) -> Action? {
        let mayShrink = connections.count > limits.minConnections
        let position = connections.lastIndex { connection in
            guard connection.isIdle else { return false }
            return isClosed || connection.closing(limits, mayShrink: mayShrink).map { $0 <= now } ?? false
        }
        return position.map { .close(connections.remove(at: $0).id) }
    }

    private mutating func update(_ id: ConnectionID, _ change: (inout PooledConnection) -> Void) {
        guard let position = connections.firstIndex(where: { $0.id == id }) else { return }
        change(&connections[position])
    }
}
