import CoreMetrics
import Foundation
import Glibc

/// A bounded number of connections, on which statements of all callers are run: the I/O around ``PoolStateMachine``.
///
/// Everything here happens on one thread, which sleeps in `poll(2)` when there is nothing to do.
actor ConnectionPool {
    typealias ConnectionID = PoolStateMachine.ConnectionID
    typealias LeaseID = UInt64
    typealias LeaseContinuation = CheckedContinuation<Result<LeaseID, PostgresError>, Never>

    private enum Waiter {
        case statement(Statement)
        case lease(LeaseContinuation)
    }

    private struct Member {
        let id: ConnectionID
        let connection: PipelinedConnection
        var lease: LeaseID?
        /// Whether its lease has ended, and it is free once nothing is under way.
        var isReturning = false
        /// Whether it is to be closed once nothing is under way.
        var isDoomed = false
    }

    private nonisolated let reactor = Reactor()
    private let configuration: PostgresConfiguration
    private var machine: PoolStateMachine
    private var members: [Member] = []
    private var waiters: [UInt64: Waiter] = [:]
    private var lastID: UInt64 = 0
    private var metrics: PoolMetrics
    private var connectError = PostgresError.cannotConnect("no attempt was made")

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
    private func pump(now: ContinuousClock.Instant) {
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

    private func send(_ statement: Statement, on member: Member, now: ContinuousClock.Instant) {
        do throws(PostgresError) {
            try member.connection.send(statement, now: now)
        } catch {
            lose(member.id, error)
            // Without the sync that was to follow, it can't have taken effect.
            retry(statement, after: error, now: now)
        }
    }

    /// Runs a statement again that is known to have had no effect.
    private func retry(_ statement: Statement, after error: PostgresError, now: ContinuousClock.Instant) {
        guard statement.purpose == .shared, statement.retries < Self.retriesMax else {
            return statement.finish(.failure(error))
        }
        statement.retries += 1
        request(.statement, as: statement.id, waiter: .statement(statement), now: now)
    }

    private static let retriesMax = 3
}

// MARK: - The connections' side

extension ConnectionPool {
    private func prepareToWait() -> Reactor.Wait {
        let now = ContinuousClock.now
        for member in members {
            do throws(PostgresError) {
                try member.connection.flush()
                try attendToTime(of: member, now: now)
            } catch {
                lose(member.id, error)
            }
        }
        pump(now: now)
        metrics.update(connections: machine.connectionCount, waiting: machine.waiterCount)
        var wait = Reactor.Wait(sockets: [], deadline: machine.nextDeadline(now: now))
        wait.sockets.reserveCapacity(members.count + 1)
        for member in members {
            wait.sockets.append(member.connection.descriptor)
            wait.deadline = earlier(wait.deadline, member.connection.nextDeadline)
        }
        return wait
    }

    private func handle(_ ready: [pollfd]) {
        let now = ContinuousClock.now
        for descriptor in ready {
            guard let member = members.first(where: { $0.connection.descriptor.fd == descriptor.fd }) else { continue }
            do throws(PostgresError) {
                for entry in try member.connection.receive(now: now) { finish(entry, on: member, now: now) }
                settle(member.id, now: now)
            } catch {
                lose(member.id, error)
            }
        }
        pump(now: now)
    }

    private func attendToTime(of member: Member, now: ContinuousClock.Instant) throws(PostgresError) {
        for statement in member.connection.overdue(now: now) {
            guard statement.purpose != .setUp else { throw .cannotConnect("the server does not answer") }
            statement.finish(.failure(.statementTimedOut))
            machine.setBlocked(member.id, true)
        }
        if let request = try member.connection.dueCancellation(now: now) { send(request, for: member.id) }
    }

    private func finish(_ entry: PipelinedConnection.Entry, on member: Member, now: ContinuousClock.Instant) {
        let statement = entry.statement
        switch statement.purpose {
        case .shared: machine.released(member.id, now: now)
        case .setUp: return setUp(member, entry.outcome, now: now)
        case .leased, .upkeep: break
        }
        guard case .failure(.server(let error)) = entry.outcome else {
            return statement.finish(entry.outcome)
        }
        if error.sqlState == .readOnlyTransaction { doom(member.id) }
        if error.sqlState.spoilsPreparedStatement, case .query(let query) = statement.content {
            let isInTransaction = member.connection.isInTransaction
            forget(query, on: member, now: now)
            if !entry.isAbandoned, !isInTransaction { return prepareAnew(statement, on: member, after: error, now: now) }
        }
        if error.sqlState == .queryCanceled, !entry.isAbandoned {
            if entry.mayBeHit { return retry(statement, after: .server(error), now: now) }
            if statement.timeout != nil { return statement.finish(.failure(.statementTimedOut)) }
        }
        statement.finish(entry.outcome)
    }

    private func forget(_ query: PostgresQuery, on member: Member, now: ContinuousClock.Instant) {
        do throws(PostgresError) {
            try member.connection.forgetPrepared(query, now: now)
        } catch {
            lose(member.id, error)
        }
    }

    /// Runs a statement again whose prepared form was no good, on the connection that is its own if it has one.
    private func prepareAnew(
        _ statement: Statement,
        on member: Member,
        after error: PostgresServerError,
        now: ContinuousClock.Instant
    ) {
        guard statement.purpose == .leased, statement.retries == 0 else {
            return retry(statement, after: .server(error), now: now)
        }
        statement.retries += 1
        send(statement, on: member, now: now)
    }

    private func setUp(
        _ member: Member,
        _ outcome: Result<PostgresRows, PostgresError>,
        now: ContinuousClock.Instant
    ) {
        switch outcome {
        case .success: machine.opened(member.id, now: now, jitter: .random(in: 0...1))
        case .failure(let error): lose(member.id, .cannotConnect(String(reflecting: error)))
        }
    }

    /// Lets a connection be used again, or closes it, once nothing is under way on it.
    private func settle(_ id: ConnectionID, now: ContinuousClock.Instant) {
        guard let position = members.firstIndex(where: { $0.id == id }), members[position].connection.isQuiet else {
            return
        }
        machine.setBlocked(id, false)
        if members[position].isReturning {
            members[position].isReturning = false
            guard !members[position].connection.isInTransaction else { return drop(id) }
            machine.returned(id, now: now)
        }
        if members[position].isDoomed, members[position].lease == nil { drop(id) }
        pump(now: now)
    }

    private func doom(_ id: ConnectionID) {
        guard let position = members.firstIndex(where: { $0.id == id }) else { return }
        members[position].isDoomed = true
        machine.setBlocked(id, true)
    }

    private func drop(_ id: ConnectionID) {
        machine.lost(id)
        members.removeAll { $0.id == id }
    }

    /// Gives a connection up, with all that is under way on it.
    private func lose(_ id: ConnectionID, _ error: PostgresError) {
        guard let position = members.firstIndex(where: { $0.id == id }) else { return }
        let failures = members.remove(at: position).connection.takeAll(after: error)
        if case .cannotConnect = error {
            failedToOpen(id, error)
        } else if failures.contains(where: { $0.statement.purpose == .setUp }) {
            failedToOpen(id, .cannotConnect(String(reflecting: error)))
        } else {
            machine.lost(id)
        }
        for (statement, error) in failures { statement.finish(.failure(error)) }
    }

    private func failedToOpen(_ id: ConnectionID, _ error: PostgresError) {
        connectError = error
        machine.failedToOpen(id, now: .now, jitter: .random(in: 0...1))
    }

    private func open(_ id: ConnectionID) {
        LibPQ.connect(url: configuration.url, timeout: configuration.connectTimeout) { outcome in
            Task { await self.connected(id, outcome) }
        }
    }

    private func connected(_ id: ConnectionID, _ outcome: Result<Handover<LibPQ>, PostgresError>) {
        let now = ContinuousClock.now
        switch outcome {
        case .success(let handover):
            guard let libpq = handover.take() else { return }
            let member = Member(id: id, connection: PipelinedConnection(libpq))
            members.append(member)
            let timeout = configuration.connectTimeout
            send(Statement(configuration.setUp, timeout: timeout, purpose: .setUp, start: now), on: member, now: now)
        case .failure(let error):
            failedToOpen(id, error)
            pump(now: now)
        }
    }

    /// Asks the server for a cancellation on a thread of its own, since libpq waits for the answer.
    private func send(_ request: consuming CancelRequest, for id: ConnectionID) {
        let handover = Handover(request)
        Thread.detachNewThread {
            handover.take()?.send()
            Task { await self.cancellationSent(for: id) }
        }
    }

    private func cancellationSent(for id: ConnectionID) {
        guard let member = members.first(where: { $0.id == id }) else { return }
        member.connection.cancellationSent(now: .now)
        settle(id, now: .now)
    }
}
