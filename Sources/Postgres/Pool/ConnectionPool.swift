import CoreMetrics

/// A bounded number of connections, on which statements of all callers are run: the I/O around ``PoolStateMachine``.
///
/// Everything here happens on one thread, which sleeps in `poll(2)` when there is nothing to do.
actor ConnectionPool {
    typealias ConnectionID = PoolStateMachine.ConnectionID
    typealias LeaseID = UInt64
    typealias LeaseContinuation = CheckedContinuation<Result<LeaseID, PostgresError>, Never>

    enum Waiter {
        case statement(Statement)
        case lease(LeaseContinuation)
    }

    struct Member {
        let id: ConnectionID
        let connection: PipelinedConnection
        var lease: LeaseID?
        /// Whether its lease has ended, and it is free once nothing is under way.
        var isReturning = false
        /// Whether it is to be closed once nothing is under way.
        var isDoomed = false
    }

    private nonisolated let reactor = Reactor()
    let configuration: PostgresConfiguration
    var machine: PoolStateMachine
    var members: [Member] = []
    var waiters: [UInt64: Waiter] = [:]
    private var lastID: UInt64 = 0
    var metrics: PoolMetrics
    var connectError = PostgresError.cannotConnect("no attempt was made")

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    init(configuration: PostgresConfiguration) {
        self.configuration = configuration
        machine = PoolStateMachine(limits: configuration.pool)
        metrics = PoolMetrics(factory: configuration.metrics ?? MetricsSystem.factory)
    }

    /// Starts the thread, which keeps the pool until ``stop()``.
    nonisolated func start() {
        reactor.start(
            prepare: { self.assumeIsolated { $0.prepareToWait() } },
            handle: { ready in self.assumeIsolated { $0.handle(ready) } }
        )
    }

    /// Ends the thread; nobody may call after that.
    nonisolated func stop() {
        reactor.finish()
    }

    /// Runs a statement on any connection, along with others.
    func run(_ query: PostgresQuery) async -> Result<PostgresRows, PostgresError> {
        let id = makeID()
        return await awaiting(id) { continuation in
            let statement = Statement(
                id: id,
                content: .query(query),
                timeout: configuration.statementTimeout.map { $0 + PostgresConfiguration.answerGrace },
                purpose: .shared,
                start: .now,
                continuation: continuation
            )
            request(.statement, as: id, waiter: .statement(statement), now: statement.start)
        }
    }

    /// Runs a statement on a leased connection.
    ///
    /// - Parameters:
    ///   - content: What to run.
    ///   - lease: The lease.
    ///   - isCancellable: Whether the cancellation of the calling task cancels it.
    /// - Returns: Its rows, or why there are none.
    func run(
        _ content: Statement.Content,
        on lease: LeaseID,
        isCancellable: Bool = true
    ) async -> Result<PostgresRows, PostgresError> {
        let id = makeID()
        let body = { (continuation: Statement.Continuation) in
            var timeout = self.configuration.statementTimeout.map { $0 + PostgresConfiguration.answerGrace }
            if case .script = content { timeout = nil }
            let statement = Statement(
                id: id,
                content: content,
                timeout: timeout,
                purpose: .leased,
                start: .now,
                continuation: continuation
            )
            self.send(statement, on: lease)
        }
        return isCancellable ? await awaiting(id, body) : await withCheckedContinuation(isolation: self, body)
    }

    /// Lends a connection that nobody else uses meanwhile.
    func lease() async -> Result<LeaseID, PostgresError> {
        let id = makeID()
        return await awaiting(id) { continuation in
            request(.lease, as: id, waiter: .lease(continuation), now: .now)
        }
    }

    /// Whether a statement of the lease's open transaction failed, so that COMMIT would roll back, and report success.
    func hasFailedTransaction(on lease: LeaseID) -> Bool {
        members.first { $0.lease == lease }?.connection.hasFailedTransaction ?? false
    }

    /// Takes a connection back; it is lent on once it is clean.
    func endLease(_ lease: LeaseID) {
        guard let position = members.firstIndex(where: { $0.lease == lease }) else { return }
        members[position].lease = nil
        members[position].isReturning = true
        settle(members[position].id, now: .now)
    }

    /// Refuses whoever waits or comes, and closes every connection as soon as nobody uses it.
    func close() {
        machine.close()
        pump(now: .now)
    }

    private func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Waits for an answer; when the task is cancelled meanwhile, the answer is that.
    private func awaiting<Success>(
        _ id: UInt64,
        _ body: (CheckedContinuation<Result<Success, PostgresError>, Never>) -> Void
    ) async -> Result<Success, PostgresError> {
        // The handler of a task that is cancelled already runs before there is anything to cancel.
        guard !Task.isCancelled else { return .failure(.cancelled) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: self, body)
        } onCancel: {
            Task { await self.cancel(id) }
        }
    }

    private func request(
        _ demand: PoolStateMachine.Demand,
        as id: UInt64,
        waiter: Waiter,
        now: ContinuousClock.Instant
    ) {
        guard machine.request(demand, as: id, now: now) else { return refuse(waiter, with: .tooManyWaiting) }
        waiters[id] = waiter
        pump(now: now)
    }

    private func cancel(_ id: UInt64) {
        if machine.cancel(id) {
            if let waiter = waiters.removeValue(forKey: id) { refuse(waiter, with: .cancelled) }
            return
        }
        for member in members {
            guard let statement = member.connection.abandon(id) else { continue }
            statement.finish(.failure(.cancelled))
            machine.setBlocked(member.id, true)
            settle(member.id, now: .now)
            return
        }
    }

    private func refuse(_ waiter: Waiter, with error: PostgresError) {
        switch waiter {
        case .statement(let statement): statement.finish(.failure(error))
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
        case nil: break
        }
    }

    private func send(_ statement: Statement, on lease: LeaseID) {
        guard let member = members.first(where: { $0.lease == lease }) else {
            return statement.finish(.failure(.leaseEnded))
        }
        send(statement, on: member, now: statement.start)
    }

    func send(_ statement: Statement, on member: Member, now: ContinuousClock.Instant) {
        do throws(PostgresError) {
            try member.connection.send(statement, now: now)
        } catch {
            let isSetUp = statement.purpose == .setUp
            lose(member.id, isSetUp ? .cannotConnect(String(reflecting: error)) : error)
            // Without the sync that was to follow, it can't have taken effect.
            retry(statement, after: error, now: now)
        }
    }

    /// Runs a statement again that is known to have had no effect.
    func retry(_ statement: Statement, after error: PostgresError, now: ContinuousClock.Instant) {
        guard statement.purpose == .shared, statement.retries < Self.retriesMax else {
            return statement.finish(.failure(error))
        }
        statement.retries += 1
        request(.statement, as: statement.id, waiter: .statement(statement), now: now)
    }

    private static let retriesMax = 3
}
