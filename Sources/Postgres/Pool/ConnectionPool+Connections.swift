import Foundation
import Glibc

/// What happens on the connections, and what becomes of them.
extension ConnectionPool {
    func prepareToWait() -> Reactor.Wait {
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

    func handle(_ ready: [pollfd]) {
        let now = ContinuousClock.now
        for descriptor in ready {
            guard let member = members.first(where: { $0.connection.descriptor.fd == descriptor.fd }) else { continue }
            let (finished, failure) = member.connection.receive(now: now)
            for entry in finished { finish(entry, on: member, now: now) }
            if let failure { lose(member.id, failure) } else { settle(member.id, now: now) }
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
    func settle(_ id: ConnectionID, now: ContinuousClock.Instant) {
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
    func lose(_ id: ConnectionID, _ error: PostgresError) {
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

    func open(_ id: ConnectionID) {
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
