import DequeModule

/// Decides who may use which connection, and which to open and close.
///
/// It does no I/O.
///
/// A waiter wants to run one statement on any connection. Or it wants a lease: a connection to itself until it ends.
/// Waiters are served in the order in which they came. Where there are more than two connections, one is never lent. So
/// a flood of leases does not keep readers out, and statements do not wait behind leases. Events change the state. Then
/// the owner carries out ``nextAction(now:)`` until there is none.
///
/// A connection may be lost at any time: by a failover, an operator or a pooler. As long as nothing was begun in a lease, any
/// other connection does as well, and the caller notices nothing.
struct PoolStateMachine {
    typealias WaiterID = UInt64
    typealias ConnectionID = UInt64

    enum Demand: Equatable {
        case statement
        case lease
        /// Another connection for a lease whose connection was lost.
        case replacement(of: WaiterID)
    }

    /// Where the next statement of a lease runs.
    enum LeaseUse: Equatable {
        case on(ConnectionID)
        /// On another connection, which is to be asked for.
        case elsewhere
        /// The connection was lost.
        case lost
        case ended
    }

    enum Refusal: Equatable {
        case timedOut
        case cannotConnect
        case closed
        case leaseEnded
    }

    enum Action: Equatable {
        /// Let the waiter, who has been waiting since then, use the connection.
        case assign(WaiterID, ConnectionID, since: ContinuousClock.Instant)
        case refuse(WaiterID, Refusal)
        case open(ConnectionID)
        /// Close a connection that nobody uses.
        case close(ConnectionID)
    }

    private struct Waiter {
        let id: WaiterID
        let demand: Demand
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
    /// Leases that have not ended and have no connection any more: whether nothing was begun, and no other was asked for.
    private var lostLeases: [WaiterID: Bool] = [:]
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
        urgent.append(waiter(id, .statement, now: now))
    }

    /// A caller asks for a connection; false when too many are waiting for the same already.
    mutating func request(_ demand: Demand, as id: WaiterID, now: ContinuousClock.Instant) -> Bool {
        let count = demand == .statement ? statements.count : leases.count
        guard count < limits.maxWaiters else { return false }
        lastNumber += 1
        let waiter = waiter(id, demand, now: now)
        if demand == .statement { statements.append(waiter) } else { leases.append(waiter) }
        return true
    }

    private func waiter(_ id: WaiterID, _ demand: Demand, now: ContinuousClock.Instant) -> Waiter {
        Waiter(id: id, demand: demand, number: lastNumber, start: now, deadline: now + limits.leaseTimeout)
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
    /// Waiters are told so, unless another connection can serve them.
    mutating func failedToOpen(_ id: ConnectionID, now: ContinuousClock.Instant, jitter: Double) {
        connections.removeAll { $0.id == id }
        backOff.failed(now: now, jitter: jitter)
        if connections.isEmpty { lastCondemned = lastNumber }
    }

    /// Nothing is under way on a connection any more.
    ///
    /// It can be used again, unless it is lent.
    mutating func released(_ id: ConnectionID, now: ContinuousClock.Instant) {
        update(id) { $0.release(now: now) }
    }

    /// A lease has ended.
    ///
    /// - Returns: Its connection, if it still has one. It can be used again once it is released.
    mutating func endLease(_ lease: WaiterID) -> ConnectionID? {
        lostLeases[lease] = nil
        guard let id = connections.first(where: { $0.lease == lease })?.id else { return nil }
        update(id) { $0.take() }
        return id
    }

    /// Decides where a lease's next statement runs.
    ///
    /// Another connection is asked for once.
    mutating func use(_ lease: WaiterID) -> LeaseUse {
        if let connection = connections.first(where: { $0.lease == lease }) { return .on(connection.id) }
        guard let isReplaceable = lostLeases.updateValue(false, forKey: lease) else {
            lostLeases[lease] = nil
            return .ended
        }
        return isReplaceable ? .elsewhere : .lost
    }

    /// Whether a connection is lent.
    func isLeased(_ id: ConnectionID) -> Bool {
        connections.contains { $0.id == id && $0.lease != nil }
    }

    /// A connection is to be closed once nobody uses it.
    mutating func retire(_ id: ConnectionID, now: ContinuousClock.Instant) {
        update(id) { $0.retire(now: now) }
    }

    /// A connection is lost, whoever used it.
    ///
    /// - Parameters:
    ///   - id: Which.
    ///   - isUnused: Whether nothing was begun on it in its present lease.
    mutating func lost(_ id: ConnectionID, isUnused: Bool) {
        guard let position = connections.firstIndex(where: { $0.id == id }) else { return }
        if let lease = connections.remove(at: position).lease { lostLeases[lease] = isUnused }
    }

    /// Closes the pool: waiters are refused and connections closed as soon as nobody uses them.
    mutating func close() {
        isClosed = true
    }

    /// What is to be done next; nil when nothing is.
    mutating func nextAction(now: ContinuousClock.Instant) -> Action? {
        if let refusal = refusal(now: now) { return refusal }
        if let isLease = turn, let index = connections.firstIndex(where: { $0.isIdle && !$0.isOld(now: now) }) {
            let waiter = isLease ? leases.removeFirst() : urgent.popFirst() ?? statements.removeFirst()
            switch waiter.demand {
            case .statement: connections[index].take()
            case .lease: connections[index].lend(for: waiter.id)
            case .replacement(let lease):
                lostLeases[lease] = nil
                connections[index].lend(for: lease)
            }
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

    /// How many more connections may be lent.
    ///
    /// While no more can be opened, one is kept for readers.
    private var lendable: Int {
        let keepsOne = backOff.isFailing && limits.maxLeases < limits.maxConnections
        let most = keepsOne ? max(1, connections.count(where: \.isOpen) - 1) : limits.maxLeases
        return max(0, min(most, limits.maxLeases) - connections.count { $0.lease != nil })
    }

    /// Whether the next waiter wants a lease: the first that came, or the first statement when no more are lent.
    private var turn: Bool? {
        if !urgent.isEmpty { return false }
        guard let lease = leases.first, lendable > 0 else { return statements.isEmpty ? nil : false }
        return statements.first.map { $0.number > lease.number } ?? true
    }

    private mutating func refusal(now: ContinuousClock.Instant) -> Action? {
        refusal(of: urgent.first, now: now) ?? refusal(of: first, now: now)
    }

    private mutating func refusal(of waiter: Waiter?, now: ContinuousClock.Instant) -> Action? {
        guard let waiter else { return nil }
        let reason: Refusal
        if isClosed {
            reason = .closed
        } else if case .replacement(let lease) = waiter.demand, lostLeases[lease] == nil {
            reason = .leaseEnded
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

    private func mayOpen(now: ContinuousClock.Instant) -> Bool {
        guard connections.count < limits.maxConnections, backOff.allowsAttempt(now: now) else { return false }
        let opening = connections.count { !$0.isOpen }
        // While the server can't be reached, one attempt at a time is enough.
        if backOff.isFailing { return opening == 0 }
        return opening < min(leases.count, lendable) + urgent.count + statements.count
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
