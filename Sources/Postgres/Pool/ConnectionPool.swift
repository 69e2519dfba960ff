import Concurrency
import NIOCore
import Synchronization

/// A bounded number of connections that run the statements of many callers.
///
/// It does the I/O that ``PoolStateMachine`` and ``LookupQueue`` decide. All of it happens on one event loop, so calls from
/// that loop stay on their thread.
actor ConnectionPool {
    typealias ConnectionID = PoolStateMachine.ConnectionID
    typealias LeaseID = PoolStateMachine.WaiterID
    typealias Answer<Success> = CheckedContinuation<Result<Success, PostgresError>, Never>

    /// Who waits for a connection.
    private enum Waiter {
        case statement(Statement)
        case lease(Answer<LeaseID>)
    }

    nonisolated let eventLoop: any EventLoop
    /// Kept here, because the loop does not keep its executor.
    private nonisolated let executor: any SerialExecutor
    private nonisolated let configuration: PostgresConfiguration
    private nonisolated let lastID = Atomic<UInt64>(0)
    private(set) var machine: PoolStateMachine
    private(set) var sessions: [ConnectionID: Session] = [:]
    private(set) var lookups: LookupQueue
    private var waiters: [UInt64: Waiter] = [:]
    private var lookupAnswers: [UInt64: Answer<PostgresRow?>] = [:]
    /// Whether statements are kept prepared: not behind a pooler that lends a session to several clients.
    private var preparesStatements = true
    /// Whether a pooler was found between this and the server.
    private(set) var isBehindPooler = false
    private var isTurnScheduled = false
    private var wakeUpCall = WakeUpCall()
    private let metrics: PoolMetrics
    private let reachability: ReachabilityReport
    private var counted = PoolMetrics.Counts()
    private var connectError = PostgresError.cannotConnect("no attempt was made")

    private static let maxRetries = 3

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated var now: ContinuousClock.Instant { eventLoop.instant }

    /// How much longer than the server a caller waits for the end of a statement; nil for ever.
    nonisolated var statementTimeout: Duration? {
        configuration.statementTimeout.map { $0 + PostgresConfiguration.answerGrace }
    }

    /// - Parameters:
    ///   - configuration: The database.
    ///   - limits: This pool's share of the configuration's.
    ///   - metrics: Metrics of all pools.
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
        lookups = LookupQueue(limits: limits)
        self.metrics = metrics
        self.reachability = reachability
    }

    /// Drops all connections, and refuses all who wait.
    nonisolated func stop() {
        eventLoop.execute {
            self.assumeIsolated { pool in
                pool.machine.close()
                pool.wakeUpCall.cancel()
                for id in pool.sessions.keys { pool.lose(id, .clientClosed) }
                pool.scheduleTurn()
            }
        }
    }

    /// Refuses all who wait or come, and closes each connection as soon as nobody uses it.
    func close() {
        machine.close()
        scheduleTurn()
    }

    nonisolated func makeID() -> UInt64 {
        lastID.add(1, ordering: .relaxed).newValue
    }

    // MARK: What callers ask for

    /// Runs a statement on any connection.
    ///
    /// - Parameters:
    ///   - statement: The statement.
    ///   - isUrgent: Whether it is the next to run, before those that wait.
    func run(_ statement: Statement, isUrgent: Bool) {
        guard isUrgent else { return request(.statement, as: statement.id, .statement(statement)) }
        machine.requestFirst(as: statement.id, now: now)
        admit(.statement(statement), as: statement.id)
    }

    /// Runs a statement on the connection of its lease.
    func run(_ statement: Statement, on lease: LeaseID) {
        switch machine.use(lease) {
        case .on(let id): send(statement, on: id)
        case .elsewhere: request(.replacement(of: lease), as: statement.id, .statement(statement))
        case .lost: statement.finish(.failure(.connectionLost("the connection was lost before")))
        case .ended: statement.finish(.failure(.leaseEnded))
        }
    }

    /// Lends a connection that nobody else uses meanwhile.
    func lease(as id: UInt64, _ answer: Answer<LeaseID>) {
        request(.lease, as: id, .lease(answer))
    }

    /// Takes a connection back; it is lent on once it is clean.
    func endLease(_ lease: LeaseID) {
        if let id = machine.endLease(lease) { settle(id) }
    }

    /// Finds the row of a key.
    func lookUp(_ lookup: PostgresLookup, key: [UInt8], as id: UInt64, _ answer: Answer<PostgresRow?>) {
        guard lookups.add(id, lookup, key: key) else { return answer.resume(returning: .failure(.tooManyWaiting)) }
        lookupAnswers[id] = answer
        scheduleTurn()
    }

    /// Lets go of a caller.
    ///
    /// A statement that nobody waits for any more is cancelled.
    func cancel(_ id: UInt64) {
        if let answer = lookupAnswers.removeValue(forKey: id) {
            answer.resume(returning: .failure(.cancelled))
            if let statement = lookups.remove(id) { cancel(statement) }
        } else if machine.cancel(id) {
            if let waiter = waiters.removeValue(forKey: id) { refuse(waiter, with: .cancelled) }
        } else {
            for (connection, session) in sessions {
                guard let statement = session.abandon(id) else { continue }
                statement.finish(.failure(.cancelled))
                return settle(connection)
            }
        }
    }

    // MARK: Turns

    /// Asks for a turn of the pool after the loop's present work.
    private func scheduleTurn() {
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        eventLoop.execute { self.assumeIsolated { $0.turn() } }
    }

    private func turn() {
        isTurnScheduled = false
        let now = now
        while let batch = lookups.next(now: now, makeID: makeID) { send(batch) }
        pump(now: now)
        var deadline = earlier(lookups.nextDeadline, flush(now: now))
        let counts = PoolMetrics.Counts(connections: machine.connectionCount, waiting: machine.waiterCount)
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

    private func send(_ batch: LookupQueue.Batch) {
        let statement = Statement(
            id: batch.id,
            content: .query(batch.query),
            timeout: statementTimeout,
            purpose: .unleased,
            completion: { [unowned self] outcome in assumeIsolated { $0.finish(batch, outcome) } }
        )
        run(statement, isUrgent: false)
    }

    private func finish(_ batch: LookupQueue.Batch, _ outcome: Result<PostgresRows, PostgresError>) {
        let found = outcome.flatMap { PostgresLookup.rows($0, keyCount: batch.callers.count) }
        for (index, isThere) in lookups.finish(batch).enumerated() where isThere {
            lookupAnswers.removeValue(forKey: batch.callers[index])?.resume(returning: found.map { $0[index] })
        }
        scheduleTurn()
    }

    private func request(_ demand: PoolStateMachine.Demand, as id: UInt64, _ waiter: Waiter) {
        guard machine.request(demand, as: id, now: now) else { return refuse(waiter, with: .tooManyWaiting) }
        admit(waiter, as: id)
    }

    private func admit(_ waiter: Waiter, as id: UInt64) {
        waiters[id] = waiter
        pump(now: now)
        scheduleTurn()
    }

    private func refuse(_ waiter: Waiter, with error: PostgresError) {
        switch waiter {
        case .statement(let statement): statement.finish(.failure(error))
        case .lease(let answer): answer.resume(returning: .failure(error))
        }
    }

    /// Carries out what the state machine decides.
    private func pump(now: ContinuousClock.Instant) {
        while let action = machine.nextAction(now: now) {
            switch action {
            case .assign(let waiter, let id, let since):
                metrics.waited(now - since)
                assign(id, to: waiter)
            case .refuse(let id, let reason):
                if let waiter = waiters.removeValue(forKey: id) { refuse(waiter, with: error(for: reason)) }
            case .open(let id): open(id)
            case .close(let id): sessions[id] = nil
            }
        }
    }

    private func error(for refusal: PoolStateMachine.Refusal) -> PostgresError {
        switch refusal {
        case .timedOut: .leaseTimedOut
        case .cannotConnect: connectError
        case .closed: .clientClosed
        case .leaseEnded: .leaseEnded
        }
    }

    private func assign(_ id: ConnectionID, to waiter: UInt64) {
        if machine.isLeased(id) { sessions[id]?.lend() }
        switch waiters.removeValue(forKey: waiter) {
        case .statement(let statement): send(statement, on: id)
        case .lease(let answer): answer.resume(returning: .success(waiter))
        case nil: break
        }
    }

    private func send(_ statement: Statement, on id: ConnectionID) {
        sessions[id]?.send(statement, now: now)
        scheduleTurn()
    }

    // MARK: Connections

    /// Writes what is queued, and handles what is overdue.
    ///
    /// - Returns: When something will be overdue next.
    private func flush(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var deadline: ContinuousClock.Instant?
        for (id, session) in sessions {
            do throws(PostgresError) {
                try session.flush(now: now)
                for statement in session.overdue(now: now) {
                    guard statement.purpose != .setUp else { throw .cannotConnect("the server does not answer") }
                    statement.finish(.failure(.statementTimedOut))
                }
                if let request = try session.dueCancellation(now: now) { send(request, for: id) }
                deadline = earlier(deadline, session.nextDeadline)
            } catch {
                lose(id, error)
            }
        }
        return deadline
    }

    private func open(_ id: ConnectionID) {
        LibPQ.connect(url: configuration.url, parameters: configuration.connectParameters) { outcome in
            Task { await self.connected(id, outcome) }
        }
    }

    private func connected(_ id: ConnectionID, _ outcome: Result<Handover<LibPQ>, PostgresError>) {
        switch outcome {
        case .success(let handover):
            guard let libpq = handover.take() else { return }
            let session = Session(libpq, preparesStatements: preparesStatements) { [weak self, eventLoop] in
                eventLoop.execute { [weak self] in self?.assumeIsolated { $0.receive(from: id) } }
            }
            sessions[id] = session
            let setUp = configuration.setUp(processID: session.libpq.processID)
            send(Statement(setUp: setUp, timeout: configuration.connectTimeout), on: id)
        case .failure(let error):
            failedToOpen(id, error)
            scheduleTurn()
        }
    }

    /// Reads from a connection whose socket is ready.
    private func receive(from id: ConnectionID) {
        guard let session = sessions[id] else { return }
        let (finished, failure) = session.receive()
        if let finished { finish(finished.statement, finished.outcome, finished.isAbandoned, on: id, session) }
        if let failure { lose(id, failure) } else { settle(id) }
        scheduleTurn()
    }

    private func finish(
        _ statement: Statement,
        _ outcome: Session.Outcome,
        _ isAbandoned: Bool,
        on id: ConnectionID,
        _ session: Session
    ) {
        if statement.purpose == .setUp { return setUp(id, outcome) }
        guard case .failure(.server(let error)) = outcome else { return statement.finish(outcome) }
        if error.sqlState == .readOnlyTransaction { machine.retire(id, now: now) }
        if error.sqlState.showsPooler { stopPreparing() }
        if error.sqlState.spoilsPreparedStatement, case .query(let query) = statement.content {
            session.forgetPrepared(query)
            if !isAbandoned, !session.isInTransaction, statement.retries < Self.maxRetries {
                statement.retries += 1
                return send(statement, on: id)
            }
        }
        let isTimeOut = error.sqlState == .queryCanceled && statement.timeout != nil
        statement.finish(isTimeOut ? .failure(.statementTimedOut) : outcome)
    }

    private func setUp(_ id: ConnectionID, _ outcome: Session.Outcome) {
        switch outcome {
        case .success(let rows):
            if (try? rows.first?.decode("is_pooled", as: Bool.self)) == true {
                isBehindPooler = true
                stopPreparing()
            }
            reachability.succeeded()
            machine.opened(id, now: now, jitter: .random(in: 0...1))
        case .failure(let error): lose(id, .cannotConnect(String(reflecting: error)))
        }
    }

    /// Runs statements without preparing them from now on, so that a pooler's change of session does not matter.
    private func stopPreparing() {
        preparesStatements = false
        for session in sessions.values { session.stopPreparing() }
    }

    /// Lets a connection be used again once nothing is under way on it.
    private func settle(_ id: ConnectionID) {
        scheduleTurn()
        guard let session = sessions[id], session.isQuiet else { return }
        // Nobody can continue an open transaction, so its connection is closed.
        if session.isInTransaction, !machine.isLeased(id) { machine.retire(id, now: now) }
        machine.released(id, now: now)
    }

    /// Gives a connection up, with all that is under way on it.
    private func lose(_ id: ConnectionID, _ error: PostgresError) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        let left = session.takeAll(after: error)
        if case .cannotConnect = error {
            failedToOpen(id, error)
        } else if left.contains(where: { $0.statement.purpose == .setUp }) {
            failedToOpen(id, .cannotConnect(String(reflecting: error)))
        } else {
            machine.lost(id, isUnused: session.isUnused)
        }
        for (statement, error, hasBegun) in left {
            if hasBegun { statement.finish(.failure(error)) } else { runElsewhere(statement, after: error) }
        }
        scheduleTurn()
    }

    /// Runs a statement that was sent to a connection and surely had no effect.
    private func runElsewhere(_ statement: Statement, after error: PostgresError) {
        guard statement.retries < Self.maxRetries else { return statement.finish(.failure(error)) }
        statement.retries += 1
        switch statement.purpose {
        case .unleased: run(statement, isUrgent: false)
        case .leased(let lease): run(statement, on: lease)
        case .setUp: break
        }
    }

    private func failedToOpen(_ id: ConnectionID, _ error: PostgresError) {
        connectError = error
        reachability.failed(error)
        machine.failedToOpen(id, now: now, jitter: .random(in: 0...1))
    }

    /// Asks the server for a cancellation on a thread of its own, since libpq waits for the answer.
    private func send(_ request: consuming CancelRequest, for id: ConnectionID) {
        let handover = Handover(request)
        let hasBegun = DetachedThread.run("pg cancel") {
            handover.take()?.send()
            Task { await self.cancellationSent(for: id) }
        }
        // The statement's time limit ends it.
        if !hasBegun { Task { self.cancellationSent(for: id) } }
    }

    private func cancellationSent(for id: ConnectionID) {
        sessions[id]?.cancellationSent(now: now)
        settle(id)
    }
}
