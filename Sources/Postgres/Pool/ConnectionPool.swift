import Concurrency
import NIOCore
import Synchronization

/// A bounded number of connections that run the statements of many callers. It does the I/O that ``PoolStateMachine``
/// decides.
///
/// All of it happens on one event loop, so calls from that loop stay on their thread. Calls of one turn of the loop go
/// to the server together.
actor ConnectionPool {
    typealias ConnectionID = PoolStateMachine.ConnectionID
    typealias LeaseID = PoolMembers.LeaseID

    nonisolated let eventLoop: any EventLoop
    /// Kept here, because the loop does not keep its executor.
    private nonisolated let executor: any SerialExecutor
    nonisolated let configuration: PostgresConfiguration
    private nonisolated let lastID = Atomic<UInt64>(0)
    private var machine: PoolStateMachine
    private(set) var members = PoolMembers()
    private var waiters: [UInt64: PoolWaiter] = [:]
    private var lookups: LookupQueue
    /// Whether statements stay prepared: not behind a pooler that shares a session among clients.
    private var preparesStatements = true
    /// Whether a pooler was found between this and the server.
    private(set) var isBehindPooler = false
    private var isTurnScheduled = false
    private var wakeUpCall = WakeUpCall()
    private let metrics: PoolMetrics
    private let reachability: ReachabilityReport
    private var counted = PoolMetrics.Counts()
    /// How many sessions of the server wait for a standby although nobody waits for them any more, as far as is known.
    private var unconfirmedCommits = 0
    private let maxUnconfirmedCommits: Int
    private var connectError = PostgresError.cannotConnect("no attempt was made")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated var now: ContinuousClock.Instant { eventLoop.instant }

    /// How many callers wait for a connection.
    var waiterCount: Int { machine.waiterCount }
    /// How many connections are open or being opened.
    var connectionCount: Int { machine.connectionCount }
    /// How many callers of look-ups have no answer yet.
    var lookupCallerCount: Int { lookups.callerCount }

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
        maxUnconfirmedCommits = limits.maxConnections
        lookups = LookupQueue(limits: limits)
        self.metrics = metrics
        self.reachability = reachability
    }

    nonisolated func makeID() -> UInt64 {
        lastID.add(1, ordering: .relaxed).newValue
    }

    /// Drops all connections, and refuses all who wait.
    nonisolated func stop() {
        onEventLoop { pool in
            pool.close()
            pool.wakeUpCall.cancel()
            for member in pool.members.all { pool.lose(member.id, .clientClosed) }
        }
    }

    /// Refuses all callers, and closes each connection as soon as it is free.
    func close() {
        machine.close()
        scheduleTurn()
    }

    /// Asks for a turn of the pool after the loop's present work.
    private func scheduleTurn() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        onEventLoop { $0.turn() }
    }

    private func turn() {
        isTurnScheduled = false
        let now = now
        let lookupDeadline = sendLookups(now: now)
        pump(now: now)
        var deadline = earlier(lookupDeadline, flush(now: now))
        let counts = PoolMetrics.Counts(connections: connectionCount, waiting: waiterCount)
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

    /// Carries out what the state machine decides.
    private func pump(now: ContinuousClock.Instant) {
        while let action = machine.nextAction(now: now) {
            switch action {
            case .assign(let waiter, let id, let since):
                metrics.waited(now - since)
                assign(id, to: waiters.removeValue(forKey: waiter), now: now)
            case .refuse(let id, let reason):
                waiters.removeValue(forKey: id)?.refuse(with: reason.error(lastFailure: connectError))
            case .open(let id): open(id)
            case .close(let id): members.remove(id)
            }
        }
    }

    private func assign(_ id: ConnectionID, to waiter: PoolWaiter?, now: ContinuousClock.Instant) {
        guard let member = members[id] else { return }
        switch waiter {
        case .statement(let statement): send(statement, on: member, now: now)
        case .lease(let continuation):
            let lease = makeID()
            members.assign(member, to: lease)
            continuation.resume(returning: .success(lease))
        case .replacement(let statement, let lease):
            members.assign(member, to: lease)
            sendLeased(statement, on: member, now: now)
        case nil: break
        }
    }

    func request(_ demand: PoolStateMachine.Demand, as id: UInt64, waiter: PoolWaiter, now: ContinuousClock.Instant) {
        guard machine.request(demand, as: id, now: now) else { return waiter.refuse(with: .tooManyWaiting) }
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

    /// Finds the row of a key, along with other callers.
    func lookUp(_ lookup: PostgresLookup, key: [UInt8], as id: UInt64, _ continuation: LookupQueue.Continuation) {
        lookups.add(id, lookup, key: key, continuation)
        scheduleTurn()
    }

    /// Sends the statements of waiting look-ups.
    ///
    /// - Parameter now: The time.
    /// - Returns: When to do so again, although nothing happened.
    private func sendLookups(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let (batches, deadline) = lookups.takeBatches(now: now, makeID: makeID)
        for batch in batches {
            let statement = sharedStatement(batch.query, as: batch.statementID, now: now) { [unowned self] outcome in
                assumeIsolated { pool in
                    pool.lookups.finish(batch, outcome)
                    pool.scheduleTurn()
                }
            }
            request(.statement, as: batch.statementID, waiter: .statement(statement), now: now)
        }
        return deadline
    }

    func cancel(_ id: UInt64) {
        let lookup = lookups.cancel(id)
        if let statement = lookup.abandoned { cancel(statement) }
        if lookup.wasHere { return }
        if machine.cancel(id) {
            waiters.removeValue(forKey: id)?.refuse(with: .cancelled)
            return
        }
        for member in members.all {
            guard let statement = member.connection.abandon(id) else { continue }
            statement.finish(.failure(.cancelled))
            machine.setBlocked(member.id, true)
            settle(member, now: now)
            return
        }
    }

    func send(_ statement: Statement, on lease: LeaseID) {
        switch members.state(of: lease) {
        case .connected(let member): sendLeased(statement, on: member, now: statement.start)
        case .replaceable:
            members.stopReplacing(lease)
            request(.lease, as: statement.id, waiter: .replacement(statement, of: lease), now: now)
        case .lost(let error): statement.finish(.failure(error))
        case .ended: statement.finish(.failure(.leaseEnded))
        }
    }

    private func sendLeased(_ statement: Statement, on member: PoolMember, now: ContinuousClock.Instant) {
        send(statement, on: member, now: now)
        member.isLeaseUsed = true
    }

    /// Takes a connection back; it is leased again once it is clean.
    func endLease(_ lease: LeaseID) {
        if let member = members.end(lease) { settle(member, now: now) }
    }

    private func send(_ statement: Statement, on member: PoolMember, now: ContinuousClock.Instant) {
        scheduleTurn()
        do throws(PostgresError) {
            try member.connection.send(statement, now: now)
        } catch {
            let isSetUp = statement.purpose == .setUp
            lose(member.id, isSetUp ? .cannotConnect(String(reflecting: error)) : error)
            // When its sync could not be sent, it was under way, and was answered as lost with the connection.
            guard !statement.isAnswered else {
                // It may have taken effect, so the next statement of the lease must not run on another connection.
                if let lease = member.lease { members.stopReplacing(lease) }
                return
            }
            // Otherwise nothing of it was sent, so it took no effect.
            if let lease = member.lease, case .replaceable = members.state(of: lease),
                statement.retries < Self.maxRetries
            {
                statement.retries += 1
                send(statement, on: lease)
            } else {
                retry(statement, after: error, now: now)
            }
        }
    }

    /// Runs a statement again that surely had no effect.
    private func retry(_ statement: Statement, after error: PostgresError, now: ContinuousClock.Instant) {
        guard !statement.isAnswered else { return }
        guard statement.purpose == .shared, statement.retries < Self.maxRetries else {
            return statement.finish(.failure(error))
        }
        statement.retries += 1
        request(.statement, as: statement.id, waiter: .statement(statement), now: now)
    }

    private static let maxRetries = 3

    /// Writes what is queued, and handles what is overdue.
    ///
    /// - Returns: When something will be overdue next.
    private func flush(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var deadline: ContinuousClock.Instant?
        for member in members.all {
            do throws(PostgresError) {
                try member.connection.flush()
                try attendToTime(of: member, now: now)
                deadline = earlier(deadline, member.connection.nextDeadline(after: now))
            } catch {
                lose(member.id, error)
            }
        }
        return deadline
    }

    private func attendToTime(of member: PoolMember, now: ContinuousClock.Instant) throws(PostgresError) {
        for statement in member.connection.overdue(now: now) {
            guard statement.purpose != .setUp else { throw .cannotConnect("the server does not answer") }
            statement.finish(.failure(.statementTimedOut(isAnswered: false)))
            machine.setBlocked(member.id, true)
        }
        if let request = try member.connection.dueCancellation(now: now) { send(request, for: member) }
        guard member.connection.hasOverdueCommit(now: now) else { return }
        // The server may be dead, and another one in its place. If it is alive, it keeps the session until a standby has the
        // commit. So the pool closes no more connections than it may have. Then they stay, and other writes wait for them.
        guard unconfirmedCommits < maxUnconfirmedCommits else { return }
        unconfirmedCommits += 1
        throw .connectionLost("a commit was not confirmed in time")
    }

    /// Asks the server for a cancellation on a thread of its own, since libpq waits for the answer.
    private func send(_ request: consuming CancelRequest, for member: PoolMember) {
        let (handover, id) = (Handover(request), member.id)
        let hasBegun = DetachedThread.run("pg cancel") {
            handover.take()?.send()
            self.onEventLoop { $0.cancellationSent(for: id) }
        }
        // The statement's time limit ends it.
        if !hasBegun { onEventLoop { $0.cancellationSent(for: id) } }
    }

    private func cancellationSent(for id: ConnectionID) {
        guard let member = members[id] else { return }
        member.connection.cancellationSent(now: now)
        settle(member, now: now)
    }

    /// Reads from a connection whose socket is ready.
    private func receive(from id: ConnectionID) {
        guard let member = members[id] else { return }
        let now = now
        let (finished, failure) = member.connection.receive(now: now)
        for entry in finished { finish(entry, on: member, now: now) }
        if let failure { lose(id, failure) } else { settle(member, now: now) }
        scheduleTurn()
    }

    private func finish(_ entry: PipelinedConnection.Entry, on member: PoolMember, now: ContinuousClock.Instant) {
        let statement = entry.statement
        switch statement.purpose {
        case .shared: machine.released(member.id, now: now)
        case .setUp: return setUp(member, entry.outcome, now: now)
        case .leased, .upkeep: break
        }
        if entry.isRolledBack, !entry.isAbandoned {
            return retry(statement, after: .connectionLost("a statement beside it failed"), now: now)
        }
        guard case .failure(.server(let error)) = entry.outcome else {
            return statement.finish(entry.outcome)
        }
        if error.sqlState == .readOnlyTransaction {
            member.isDoomed = true
            machine.setBlocked(member.id, true)
        }
        if error.sqlState.spoilsPreparedStatement, case .query(let query) = statement.content {
            if error.sqlState.showsPooler { stopPreparing() }
            // On a shared connection, the statements behind this one look like a transaction, too.
            let isInTransaction = statement.purpose == .leased && member.connection.isInTransaction
            do throws(PostgresError) {
                try member.connection.forgetPrepared(query, now: now)
            } catch {
                lose(member.id, error)
            }
            if !entry.isAbandoned, !isInTransaction {
                return prepareAnew(statement, on: member, after: error, now: now)
            }
        }
        if error.sqlState == .queryCanceled, !entry.isAbandoned {
            if entry.mayBeHit { return retry(statement, after: .server(error), now: now) }
            if statement.timeout != nil {
                return statement.finish(.failure(.statementTimedOut(isAnswered: true)))
            }
        }
        statement.finish(entry.outcome)
    }

    /// Runs statements without preparing them from now on, so that a pooler's change of session does not matter.
    private func stopPreparing() {
        preparesStatements = false
        for member in members.all { member.connection.stopPreparing() }
    }

    /// Runs a statement again whose prepared form was refused.
    ///
    /// A leased one stays on its connection.
    private func prepareAnew(
        _ statement: Statement,
        on member: PoolMember,
        after error: PostgresServerError,
        now: ContinuousClock.Instant
    ) {
        guard statement.purpose == .leased, statement.retries == 0 else {
            return retry(statement, after: .server(error), now: now)
        }
        statement.retries += 1
        send(statement, on: member, now: now)
    }

    /// Lets a connection be used again, or closes it, once nothing is under way on it.
    private func settle(_ member: PoolMember, now: ContinuousClock.Instant) {
        scheduleTurn()
        // It may have been lost meanwhile.
        guard members[member.id] != nil, member.connection.isQuiet else { return }
        machine.setBlocked(member.id, false)
        if member.isReturning {
            member.isReturning = false
            machine.returned(member.id, now: now)
        }
        guard member.lease == nil else { return }
        // No other caller can continue an open transaction, so its connection is closed.
        if member.isDoomed || member.connection.isInTransaction {
            machine.lost(member.id)
            members.remove(member.id)
        }
    }

    private func open(_ id: ConnectionID) {
        LibPQ.connect(url: configuration.url, parameters: configuration.connectParameters) { outcome in
            self.onEventLoop { $0.connected(id, outcome) }
        }
    }

    private func connected(_ id: ConnectionID, _ outcome: Result<Handover<LibPQ>, PostgresError>) {
        let now = now
        switch outcome {
        case .success(let handover):
            guard let libpq = handover.take() else { return }
            let connection = PipelinedConnection(libpq, preparesStatements: preparesStatements) {
                [weak self, eventLoop] in
                eventLoop.execute { [weak self] in self?.assumeIsolated { $0.receive(from: id) } }
            }
            let member = PoolMember(id: id, connection: connection)
            members.append(member)
            let timeout = configuration.connectTimeout
            let setUp = configuration.setUp(processID: connection.libpq.processID)
            send(Statement(setUp, timeout: timeout, purpose: .setUp, start: now), on: member, now: now)
        case .failure(let error):
            failedToOpen(id, error)
            scheduleTurn()
        }
    }

    private func setUp(
        _ member: PoolMember,
        _ outcome: Result<PostgresRows, PostgresError>,
        now: ContinuousClock.Instant
    ) {
        switch outcome {
        case .success(let rows):
            if (try? rows.first?.decode("is_pooled", as: Bool.self)) == true {
                isBehindPooler = true
                stopPreparing()
            }
            unconfirmedCommits = (try? rows.first?.decode("unconfirmed_commits", as: Int.self)) ?? 0
            reachability.succeeded()
            machine.opened(member.id, now: now, jitter: .random(in: 0...1))
        case .failure(let error): lose(member.id, .cannotConnect(String(reflecting: error)))
        }
    }

    private func failedToOpen(_ id: ConnectionID, _ error: PostgresError) {
        connectError = error
        reachability.failed(error)
        machine.failedToOpen(id, now: now, jitter: .random(in: 0...1))
    }

    /// Closes a lost connection, and fails the statements under way on it.
    private func lose(_ id: ConnectionID, _ error: PostgresError) {
        guard let member = members.lose(id, error) else { return }
        let failures = member.connection.takeAll(after: error)
        if case .cannotConnect = error {
            failedToOpen(id, error)
        } else if failures.contains(where: { $0.statement.purpose == .setUp }) {
            failedToOpen(id, .cannotConnect(String(reflecting: error)))
        } else {
            machine.lost(id)
        }
        for (statement, error) in failures { statement.finish(.failure(error)) }
        scheduleTurn()
    }
}
