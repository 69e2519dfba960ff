import DequeModule

/// One session at the server, which runs one statement at a time.
///
/// Used by its owner only, on the owner's event loop. After a method has thrown, drop the session.
final class Session {
    typealias Outcome = Result<PostgresRows, PostgresError>

    /// What the server is asked to do for a statement.
    private enum Command {
        case deallocate(String)
        case prepare(String, PostgresQuery)
        case execute(String, PostgresQuery)
        case executeUnprepared(PostgresQuery)
        case script(String)
    }

    private struct Running {
        let statement: Statement
        let start: ContinuousClock.Instant
        /// The first is under way.
        var commands: Deque<Command>
        var outcome: Outcome = .success(.empty)
        /// Whether its caller was answered already.
        var isAbandoned = false
    }

    let libpq: LibPQ
    private let watchID: UInt64
    /// What the socket is being watched for; nothing once it was ready.
    private var watched: SocketWatcher.Events = []
    private var prepared: PreparedStatements
    private var running: Running?
    private var waiting: Deque<Statement> = []
    /// Whether no statement was begun since the session was lent.
    private(set) var isUnused = true
    private var isFlushed = true
    private var cancellation = Cancellation()
    private let keepsNotifications: Bool
    private var notifications: [PostgresNotification] = []

    /// How many statements a session keeps prepared.
    private static let maxPreparedStatements = 256

    /// - Parameters:
    ///   - libpq: An open connection.
    ///   - preparesStatements: Whether statements are kept prepared.
    ///   - keepsNotifications: Whether somebody takes notifications. If nobody does, they are not kept.
    ///   - onReady: Called on any thread when there is something to ``receive()``.
    init(
        _ libpq: consuming LibPQ,
        preparesStatements: Bool = true,
        keepsNotifications: Bool = false,
        onReady: @escaping @Sendable () -> Void
    ) {
        prepared = PreparedStatements(maxCount: preparesStatements ? Self.maxPreparedStatements : 0)
        watchID = SocketWatcher.shared.add(libpq.socket, onReady: onReady)
        self.libpq = libpq
        self.keepsNotifications = keepsNotifications
    }

    deinit {
        SocketWatcher.shared.remove(libpq.socket, id: watchID)
    }

    /// What was notified since the last time.
    func takeNotifications() -> [PostgresNotification] {
        defer { notifications = [] }
        return notifications
    }

    /// Whether nothing is under way, and no cancellation can still arrive.
    var isQuiet: Bool { running == nil && waiting.isEmpty && !cancellation.isBeingSent }

    var isInTransaction: Bool { libpq.isInTransaction }

    /// The statement that the server is at.
    var current: Statement? { running?.statement }

    /// Whether its caller was answered already.
    var currentIsAbandoned: Bool { running?.isAbandoned ?? false }

    /// How many statements wait for it.
    var waitingCount: Int { waiting.count }

    /// The session is lent.
    func lend() { isUnused = true }

    /// Queues a statement for ``flush(now:)``.
    func send(_ statement: Statement, now: ContinuousClock.Instant) {
        statement.deadline = statement.timeout.map { now + $0 }
        waiting.append(statement)
    }

    /// Begins the next statement if none is under way, and writes as much as the socket takes.
    func flush(now: ContinuousClock.Instant) throws(PostgresError) {
        // A cancellation that is being sent would hit the next statement.
        if running == nil, !cancellation.isBeingSent, let statement = waiting.first {
            let commands = commands(for: statement)
            try perform(commands.first)
            waiting.removeFirst()
            running = Running(statement: statement, start: now, commands: commands)
            isUnused = false
        }
        if !isFlushed { isFlushed = try libpq.flush() }
        try watch()
    }

    private func commands(for statement: Statement) -> Deque<Command> {
        switch statement.content {
        case .script(let text): return [.script(text)]
        case .query(let query):
            // The first statement of a session is sent once only, so that preparing it would be for nothing.
            switch statement.purpose == .setUp ? .unprepared : prepared.use(query) {
            case .ready(let name): return [.execute(name, query)]
            case .unprepared: return [.executeUnprepared(query)]
            case .prepare(let name, let evicted):
                let commands: Deque<Command> = [.prepare(name, query), .execute(name, query)]
                return (evicted.map { [.deallocate($0)] } ?? []) + commands
            }
        }
    }

    private func perform(_ command: Command?) throws(PostgresError) {
        isFlushed = false
        switch command {
        case .deallocate(let name): try libpq.sendUnprepared(PostgresQuery(stringLiteral: "DEALLOCATE \(name)"))
        case .prepare(let name, let query): try libpq.sendPrepare(name: name, query: query)
        case .execute(let name, let query): try libpq.sendExecute(name: name, query: query)
        case .executeUnprepared(let query): try libpq.sendUnprepared(query)
        case .script(let text): try libpq.sendScript(text)
        case nil: break
        }
    }

    /// Reads what has arrived once the socket is ready.
    ///
    /// - Returns: The statement that has ended with its outcome, even if the connection ended after it; whether its
    ///   caller was answered before; and why the connection ended, if it did.
    func receive() -> (finished: (statement: Statement, outcome: Outcome, isAbandoned: Bool)?, failure: PostgresError?)
    {
        watched = []
        var finished: (statement: Statement, outcome: Outcome, isAbandoned: Bool)?
        do throws(PostgresError) {
            let isAlive = libpq.consumeInput()
            while running != nil, !libpq.isBusy {
                if let result = libpq.nextResult() {
                    try note(result)
                } else if let ended = try endCommand() {
                    finished = (ended.statement, ended.outcome, ended.isAbandoned)
                }
            }
            while let notification = libpq.nextNotification() {
                if keepsNotifications { notifications.append(notification) }
            }
            // A server that ends a session says why first.
            guard isAlive, !libpq.isBroken else { throw .connectionLost(libpq.lastError) }
        } catch {
            return (finished, error)
        }
        return (finished, nil)
    }

    private func note(_ result: consuming LibPQResult) throws(PostgresError) {
        // The first failure is the cause of others.
        guard case .success? = running?.outcome else { return }
        switch result.kind {
        case .rows: running?.outcome = .success(result.rows())
        case .failure(let error): running?.outcome = .failure(error)
        // libpq returns such a result until the data is sent, and nobody here sends any.
        case .copy: throw .connectionLost("COPY from or to the client is not supported")
        }
    }

    /// Has the next command of a statement performed.
    ///
    /// - Returns: The statement if that was the last, or failed.
    private func endCommand() throws(PostgresError) -> Running? {
        guard let command = running?.commands.popFirst() else { return nil }
        let hasFailed = if case .failure? = running?.outcome { true } else { false }
        switch command {
        case .deallocate(let name) where !hasFailed: prepared.deallocated(name)
        case .prepare(_, let query): if hasFailed { prepared.refused(query) } else { prepared.prepared(query) }
        default: break
        }
        guard !hasFailed, let next = running?.commands.first else { return running.take() }
        try perform(next)
        return nil
    }

    /// Lets go of a caller who was answered.
    ///
    /// The statement is cancelled if it does not end soon.
    ///
    /// - Returns: The statement; nil when it is not here.
    func abandon(_ id: UInt64) -> Statement? {
        if let position = waiting.firstIndex(where: { $0.id == id }) { return waiting.remove(at: position) }
        guard let statement = running?.statement, statement.id == id else { return nil }
        running?.isAbandoned = true
        return statement
    }

    /// Abandons the statements that have taken too long, and returns them.
    func overdue(now: ContinuousClock.Instant) -> [Statement] {
        var statements: [Statement] = []
        while let statement = nextOverdue, let deadline = statement.deadline, deadline <= now {
            statements.append(statement)
            _ = abandon(statement.id)
        }
        return statements
    }

    /// Whose time is over first, of the statements whose callers wait.
    private var nextOverdue: Statement? {
        // They were sent in this order, nearly all with the same limit.
        if let current, !currentIsAbandoned, current.deadline != nil { return current }
        return waiting.first { $0.deadline != nil }
    }

    /// The request that cancels a statement nobody waits for, when it is due.
    ///
    /// - Returns: A request to send over another connection. Call ``cancellationSent(now:)`` when it is sent. Nil when
    ///   none is due.
    /// - Throws: `PostgresError.connectionLost` when the server has not heeded the requests.
    func dueCancellation(now: ContinuousClock.Instant) throws(PostgresError) -> CancelRequest? {
        guard let running, running.isAbandoned else { return nil }
        switch cancellation.due(runningSince: running.start, now: now) {
        case .nothing: return nil
        case .giveUp: throw .connectionLost("the server did not cancel a statement")
        case .send:
            guard let request = libpq.cancelRequest() else { throw .connectionLost("out of memory") }
            return request
        }
    }

    func cancellationSent(now: ContinuousClock.Instant) {
        cancellation.sent(now: now)
    }

    /// When ``overdue(now:)`` or ``dueCancellation(now:)`` may have something to say.
    var nextDeadline: ContinuousClock.Instant? {
        guard currentIsAbandoned, let start = running?.start else { return nextOverdue?.deadline }
        return earlier(cancellation.nextDeadline(runningSince: start), nextOverdue?.deadline)
    }

    /// The statements whose callers wait when the connection breaks, each with why it fails.
    ///
    /// - Returns: Those that had not begun have surely had no effect.
    func takeAll(after error: PostgresError) -> [(statement: Statement, error: PostgresError, hasBegun: Bool)] {
        defer { (running, waiting) = (nil, []) }
        let begun = running.flatMap { running -> (Statement, PostgresError, Bool)? in
            if running.isAbandoned { return nil }
            if case .failure(let cause) = running.outcome { return (running.statement, cause, true) }
            return (running.statement, error, true)
        }
        return [begun].compactMap(\.self) + waiting.map { ($0, error, false) }
    }

    /// Sends every statement as text from now on.
    func stopPreparing() {
        prepared = PreparedStatements(maxCount: 0)
    }

    /// Has a statement prepared again at its next use, since the server has it no more, or with another result.
    func forgetPrepared(_ query: PostgresQuery) {
        prepared.spoiled(query)
    }

    private func watch() throws(PostgresError) {
        let events: SocketWatcher.Events = isFlushed ? .readable : [.readable, .writable]
        guard events != watched, let socket = libpq.socket else { return }
        guard SocketWatcher.shared.watch(socket, id: watchID, for: events) else {
            throw .connectionLost("the system does not watch the connection's socket")
        }
        watched = events
    }
}
