import NIOCore
import Synchronization

/// A bounded number of connections that run the statements of many callers. It does the I/O that ``PoolStateMachine``
/// decides.
///
/// All of it happens on one event loop, so calls from that loop stay on their thread. Calls of one turn of the loop go
/// to the server together.
actor ConnectionPool {
    typealias ConnectionID = PoolStateMachine.ConnectionID
    typealias LeaseID = UInt64
    typealias LeaseContinuation = CheckedContinuation<Result<LeaseID, PostgresError>, Never>

    enum Waiter {
        case statement(Statement)
        case lease(LeaseContinuation)
        /// The first statement of a lease whose connection was lost before.
        case replacement(Statement, of: LeaseID)
    }

    struct Member {
        let id: ConnectionID
        let connection: PipelinedConnection
        var lease: LeaseID?
        /// Whether a statement of its lease was sent.
        var isLeaseUsed = false
        /// Whether its lease has ended, and it is free once nothing is under way.
        var isReturning = false
        /// Whether it is to be closed once nothing is under way.
        var isDoomed = false
    }

    nonisolated let eventLoop: any EventLoop
    /// Kept here, because the loop does not keep its executor.
    private nonisolated let executor: any SerialExecutor
    let configuration: PostgresConfiguration
    var machine: PoolStateMachine
    var members: [Member] = []
    /// Leases that have not ended, and have no connection any more.
    var lostLeases: [LeaseID: LostLease] = [:]
    var waiters: [UInt64: Waiter] = [:]
    var lookups: [PostgresLookup: Lookups] = [:]
    var lookupCallers: [UInt64: LookupCaller] = [:]
    let maxWaiters: Int
    /// How long a statement may run before no other waits behind it.
    let slowness: Duration
    nonisolated let lastID = Atomic<UInt64>(0)
    /// Whether statements stay prepared: not behind a pooler that shares a session among clients.
    var preparesStatements = true
    /// Whether a pooler was found between this and the server.
    var isBehindPooler = false
    private var isTurnScheduled = false
    private var wakeUpCall = WakeUpCall()
    let metrics: PoolMetrics
    let reachability: ReachabilityReport
    private var counted = PoolMetrics.Counts()
    var connectError = PostgresError.cannotConnect("no attempt was made")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated var now: ContinuousClock.Instant { eventLoop.instant }

    /// - Parameters:
    ///   - configuration: The database.
    ///   - limits: This pool's share of the configuration's.
    ///   - metrics: The metrics of all pools.
    ///   - reachability: Reports whether the database can be reached.
    ///   - eventLoop: Where the pool lives.
    init(
        configuration: PostgresConfiguration,
        limits: PoolLimits,
        metrics: PoolMetrics,
        reachability: ReachabilityReport,
        eventLoop: any EventLoop
    ) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        executor = eventLoop.executor
        machine = PoolStateMachine(limits: limits)
        maxWaiters = limits.maxWaiters
        slowness = limits.slowness
        self.metrics = metrics
        self.reachability = reachability
    }

    /// Drops all connections, and refuses all who wait.
    nonisolated func stop() {
        eventLoop.execute { self.assumeIsolated { $0.stopHere() } }
    }

    private func stopHere() {
        machine.close()
        wakeUpCall.cancel()
        for member in members { lose(member.id, .clientClosed) }
        scheduleTurn()
    }

    /// Asks for a turn of the pool after the loop's present work.
    func scheduleTurn() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        eventLoop.execute { self.assumeIsolated { $0.turn() } }
    }

    private func turn() {
        isTurnScheduled = false
        let now = now
        let lookupDeadline = sendLookups(now: now)
        pump(now: now)
        var deadline = earlier(lookupDeadline, flush(now: now))
        let counts = PoolMetrics.Counts(
            connections: machine.connectionCount,
            waiting: machine.waiterCount
        )
        metrics.changed(from: counted, to: counts)
        counted = counts
        deadline = earlier(deadline, machine.nextDeadline(now: now))
        wakeUpCall.ask(for: deadline, on: eventLoop) {
            self.assumeIsolated { pool in
                pool.wakeUpCall.called()
                pool.turn()
            }
        }
    }

    /// Takes a connection back; it is leased again once it is clean.
    func endLease(_ lease: LeaseID) {
        lostLeases[lease] = nil
        guard let position = members.firstIndex(where: { $0.lease == lease }) else { return }
        members[position].lease = nil
        members[position].isLeaseUsed = false
        members[position].isReturning = true
        settle(members[position].id, now: now)
    }

    /// Refuses all callers, and closes each connection as soon as it is free.
    func close() {
        machine.close()
        scheduleTurn()
    }

    func request(
        _ demand: PoolStateMachine.Demand,
        as id: UInt64,
        waiter: Waiter,
        now: ContinuousClock.Instant
    ) {
        guard machine.request(demand, as: id, now: now) else { return refuse(waiter, with: .tooManyWaiting) }
        waiters[id] = waiter
        pump(now: now)
        scheduleTurn()
    }

    func requestFirst(_ statement: Statement) {
        machine.requestFirst(as: statement.id, now: statement.start)
        waiters[statement.id] = .statement(statement)
        pump(now: statement.start)
        scheduleTurn()
    }

    func cancel(_ id: UInt64) {
        if cancelLookup(id) { return }
        if machine.cancel(id) {
            if let waiter = waiters.removeValue(forKey: id) { refuse(waiter, with: .cancelled) }
            return
        }
        for member in members {
            guard let statement = member.connection.abandon(id) else { continue }
            statement.finish(.failure(.cancelled))
            machine.setBlocked(member.id, true)
            settle(member.id, now: now)
            return
        }
    }

    private func refuse(_ waiter: Waiter, with error: PostgresError) {
        switch waiter {
        case .statement(let statement), .replacement(let statement, _): statement.finish(.failure(error))
        case .lease(let continuation): continuation.resume(returning: .failure(error))
        }
    }

    /// Carries out what the state machine decides.
    func pump(now: ContinuousClock.Instant) {
        while let action = machine.nextAction(now: now) {
            switch action {
            case .assign(let waiter, let id, let since):
                metrics.waited(now - since)
                assign(id, to: waiters.removeValue(forKey: waiter), now: now)
            case .refuse(let id, let reason):
                guard let waiter = waiters.removeValue(forKey: id) else { continue }
                refuse(waiter, with: error(for: reason))
            case .open(let id): open(id)
            case .close(let id): members.removeAll { $0.id == id }
            }
        }
    }

    private func error(for refusal: PoolStateMachine.Refusal) -> PostgresError {
        switch refusal {
        case .timedOut: .leaseTimedOut
        case .cannotConnect: connectError
        case .closed: .clientClosed
        }
    }

    private func assign(_ id: ConnectionID, to waiter: Waiter?, now: ContinuousClock.Instant) {
        guard let position = members.firstIndex(where: { $0.id == id }) else { return }
        switch waiter {
        case .statement(let statement): send(statement, on: members[position], now: now)
        case .lease(let continuation):
            let lease = makeID()
            members[position].lease = lease
            continuation.resume(returning: .success(lease))
        case .replacement(let statement, let lease): replace(lease, by: position, for: statement, now: now)
        case nil: break
        }
    }

    func send(_ statement: Statement, on member: Member, now: ContinuousClock.Instant) {
        scheduleTurn()
        do throws(PostgresError) {
            try member.connection.send(statement, now: now)
        } catch {
            let isSetUp = statement.purpose == .setUp
            lose(member.id, isSetUp ? .cannotConnect(String(reflecting: error)) : error)
            // When its sync could not be sent, it was under way, and was answered as lost with the connection.
            guard !statement.isAnswered else {
                // It may have taken effect, so the next statement of the lease must not run on another connection.
                if let lease = member.lease { lostLeases[lease]?.isReplaceable = false }
                return
            }
            // Otherwise nothing of it was sent, so it took no effect.
            if let lease = member.lease, lostLeases[lease]?.isReplaceable == true, statement.retries < Self.maxRetries {
                statement.retries += 1
                send(statement, on: lease)
            } else {
                retry(statement, after: error, now: now)
            }
        }
    }

    /// Runs a statement again that surely had no effect.
    func retry(_ statement: Statement, after error: PostgresError, now: ContinuousClock.Instant) {
        guard !statement.isAnswered else { return }
        guard statement.purpose == .shared, statement.retries < Self.maxRetries else {
            return statement.finish(.failure(error))
        }
        statement.retries += 1
        request(.statement, as: statement.id, waiter: .statement(statement), now: now)
    }

    private static let maxRetries = 3
}
