import Concurrency
import NIOCore

/// Reading, writing and closing of connections.
extension ConnectionPool {
    /// Writes what is queued, and handles what is overdue.
    ///
    /// - Returns: When something will be overdue next.
    func flush(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var deadline: ContinuousClock.Instant?
        for member in members {
            do throws(PostgresError) {
                try member.connection.flush()
                try attendToTime(of: member, now: now)
                deadline = earlier(deadline, member.connection.nextDeadline)
            } catch {
                lose(member.id, error)
            }
        }
        return deadline
    }

    /// Reads from a connection whose socket is ready.
    private func receive(from id: ConnectionID) {
        guard let member = members.first(where: { $0.id == id }) else { return }
        let now = now
        let (finished, failure) = member.connection.receive(now: now)
        for entry in finished { finish(entry, on: member, now: now) }
        if let failure { lose(id, failure) } else { settle(id, now: now) }
        scheduleTurn()
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
        if entry.isRolledBack, !entry.isAbandoned {
            return retry(statement, after: .connectionLost("a statement beside it failed"), now: now)
        }
        guard case .failure(.server(let error)) = entry.outcome else {
            return statement.finish(entry.outcome)
        }
        if error.sqlState == .readOnlyTransaction { doom(member.id) }
        if error.sqlState.spoilsPreparedStatement, case .query(let query) = statement.content {
            if error.sqlState.showsPooler { stopPreparing() }
            // On a shared connection, the statements behind this one look like a transaction, too.
            let isInTransaction = statement.purpose == .leased && member.connection.isInTransaction
            forget(query, on: member, now: now)
            if !entry.isAbandoned, !isInTransaction {
                return prepareAnew(statement, on: member, after: error, now: now)
            }
        }
        if error.sqlState == .queryCanceled, !entry.isAbandoned {
            if entry.mayBeHit { return retry(statement, after: .server(error), now: now) }
            if statement.timeout != nil { return statement.finish(.failure(.statementTimedOut)) }
        }
        statement.finish(entry.outcome)
    }

    /// Runs statements without preparing them from now on, so that a pooler's change of session does not matter.
    private func stopPreparing() {
        preparesStatements = false
        for member in members { member.connection.stopPreparing() }
    }

    private func forget(_ query: PostgresQuery, on member: Member, now: ContinuousClock.Instant) {
        do throws(PostgresError) {
            try member.connection.forgetPrepared(query, now: now)
        } catch {
            lose(member.id, error)
        }
    }

    /// Runs a statement again whose prepared form was refused.
    ///
    /// A leased one stays on its connection.
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
        case .success(let rows):
            if (try? rows.first?.decode("is_pooled", as: Bool.self)) == true {
                isBehindPooler = true
                stopPreparing()
            }
            reachability.succeeded()
            machine.opened(member.id, now: now, jitter: .random(in: 0...1))
        case .failure(let error): lose(member.id, .cannotConnect(String(reflecting: error)))
        }
    }

    /// Lets a connection be used again, or closes it, once nothing is under way on it.
    func settle(_ id: ConnectionID, now: ContinuousClock.Instant) {
        scheduleTurn()
        guard let position = members.firstIndex(where: { $0.id == id }), members[position].connection.isQuiet else {
            return
        }
        machine.setBlocked(id, false)
        if members[position].isReturning {
            members[position].isReturning = false
            machine.returned(id, now: now)
        }
        guard members[position].lease == nil else { return }
        // No other caller can continue an open transaction, so its connection is closed.
        if members[position].isDoomed || members[position].connection.isInTransaction { drop(id) }
    }

    private func doom(_ id: ConnectionID) {
        guard let position = members.firstIndex(where: { $0.id == id }) else { return }
        members[position].isDoomed = true
        machine.setBlocked(id, true)
    }

    private func drop(_ id: ConnectionID) {
        machine.lost(id)
        members.removeAll { $0.id == id }
        scheduleTurn()
    }

    /// Closes a lost connection, and fails the statements under way on it.
    func lose(_ id: ConnectionID, _ error: PostgresError) {
        guard let position = members.firstIndex(where: { $0.id == id }) else { return }
        let member = members.remove(at: position)
        noteLoss(of: member, error)
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

    private func failedToOpen(_ id: ConnectionID, _ error: PostgresError) {
        connectError = error
        reachability.failed(error)
        machine.failedToOpen(id, now: now, jitter: .random(in: 0...1))
    }

    func open(_ id: ConnectionID) {
        LibPQ.connect(url: configuration.url, parameters: configuration.connectParameters) { outcome in
            Task { await self.connected(id, outcome) }
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
            let member = Member(id: id, connection: connection)
            members.append(member)
            let timeout = configuration.connectTimeout
            let setUp = configuration.setUp(processID: connection.libpq.processID)
            send(Statement(setUp, timeout: timeout, purpose: .setUp, start: now), on: member, now: now)
        case .failure(let error):
            failedToOpen(id, error)
            scheduleTurn()
        }
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
        guard let member = members.first(where: { $0.id == id }) else { return }
        member.connection.cancellationSent(now: now)
        settle(id, now: now)
    }
}
