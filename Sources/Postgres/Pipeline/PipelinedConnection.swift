import Concurrency
import DequeModule

/// One session at the server, in pipeline mode: statements of several callers are under way on it at once.
///
/// Used by its owner only, on the owner's event loop. After a method has thrown, drop the connection.
final class PipelinedConnection {
    typealias Entry = PipelineStateMachine<Statement>.Entry

    let libpq: LibPQ
    private let watchID: UInt64
    /// What the socket is being watched for; nothing once it was ready.
    private var watched: SocketWatcher.Events = []
    private(set) var pipeline = PipelineStateMachine<Statement>()
    private var prepared: PreparedStatements
    /// Statements that wait for a script, or a script that waits for statements.
    private(set) var backlog: Deque<Statement> = []
    private var isRunningScript = false
    private var isFlushed = true
    private var cancellation = Cancellation()
    private let keepsNotifications: Bool
    private var notifications: [PostgresNotification] = []

    /// How many statements a connection keeps prepared.
    private static let maxPreparedStatements = 256

    /// - Parameters:
    ///   - libpq: An open connection in pipeline mode.
    ///   - preparesStatements: Whether statements stay prepared.
    ///   - keepsNotifications: Whether notifications are returned. Otherwise they are dropped.
    ///   - onReady: Called on any thread when there is something to ``receive(now:)``.
    init(
        _ libpq: consuming LibPQ,
        preparesStatements: Bool = true,
        keepsNotifications: Bool = false,
        onReady: @escaping @Sendable () -> Void
    ) {
        prepared = PreparedStatements(maxCount: preparesStatements ? Self.maxPreparedStatements : 0)
        watchID = SocketWatcher.shared.add(libpq.socket) { _ in onReady() }
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
    var isQuiet: Bool { pipeline.isEmpty && backlog.isEmpty && !cancellation.isBeingSent }

    var isInTransaction: Bool { libpq.isInTransaction }

    /// Queues a statement for ``flush()``.
    func send(_ statement: Statement, now: ContinuousClock.Instant) throws(PostgresError) {
        guard backlog.isEmpty, mayFollow(statement) else { return backlog.append(statement) }
        try write(statement, now: now)
    }

    private func write(_ statement: Statement, now: ContinuousClock.Instant) throws(PostgresError) {
        isFlushed = false
        let deadline = statement.timeout.map { now + $0 }
        switch statement.content {
        case .script(let text):
            try libpq.setPipelineMode(false)
            try libpq.sendScript(text)
            isRunningScript = true
            pipeline.sent(statement, isPreparing: false, now: now, deadline: deadline)
        case .query(let query):
            if !statement.sharesBatch { try synchronize() }
            let endsBlock = query.sql == PostgresQuery.commit.sql || !libpq.isInOpenBlock
            statement.commits = statement.purpose == .leased && endsBlock
            let isPreparing = try send(query, isOnce: statement.purpose == .setUp, now: now)
            pipeline.sent(
                statement,
                isPreparing: isPreparing,
                now: now,
                deadline: deadline,
                mayBeHit: cancellation.isBeingSent
            )
            if !statement.sharesBatch { try synchronize() }
        }
    }

    /// Writes as much as the socket takes, and asks to be called for the next event.
    func flush() throws(PostgresError) {
        try synchronize()
        if !isFlushed { isFlushed = try libpq.flush() }
        try watch()
    }

    /// Reads what has arrived once the socket is ready.
    ///
    /// - Parameter now: The time.
    /// - Returns: What is finished, even if the connection ended after it; and why the connection ended, if it did.
    func receive(now: ContinuousClock.Instant) -> (finished: [Entry], failure: PostgresError?) {
        watched = []
        var finished: [Entry] = []
        do throws(PostgresError) {
            try receive(into: &finished, now: now)
        } catch {
            return (finished, error)
        }
        return (finished, nil)
    }

    private func receive(into finished: inout [Entry], now: ContinuousClock.Instant) throws(PostgresError) {
        let isAlive = libpq.consumeInput()
        var isAfterEnd = false
        while pipeline.expectsAnswer || isRunningScript, !libpq.isBusy {
            if let result = libpq.nextResult() {
                guard !libpq.hasUnconfirmedCommit else { throw .connectionLost("no standby confirmed a commit") }
                isAfterEnd = false
                finished += try receive(result, now: now)
            } else if isRunningScript {
                finished += try endScript(now: now)
            } else {
                // One end comes after each command; a second one means that nothing more will come.
                guard !isAfterEnd else { throw .connectionLost(libpq.lastError) }
                isAfterEnd = true
            }
        }
        while let statement = backlog.first, mayFollow(statement) {
            try write(statement, now: now)
            backlog.removeFirst()
        }
        while let notification = libpq.nextNotification() {
            if keepsNotifications { notifications.append(notification) }
        }
        // A server that ends a session says why first.
        guard isAlive, !libpq.isBroken else { throw .connectionLost(libpq.lastError) }
    }

    /// Removes a caller who was answered.
    ///
    /// The statement is cancelled if it does not end soon.
    ///
    /// - Returns: The statement; nil when it is not here.
    func abandon(_ id: UInt64) -> Statement? {
        if let position = backlog.firstIndex(where: { $0.id == id }) { return backlog.remove(at: position) }
        return pipeline.abandon { $0.id == id }
    }

    /// Abandons the statements that have taken too long, and returns them.
    func overdue(now: ContinuousClock.Instant) -> [Statement] {
        var statements: [Statement] = []
        while let statement = pipeline.abandonOverdue(now: now) { statements.append(statement) }
        return statements
    }

    /// The request that cancels a statement without a caller, when it is due.
    ///
    /// - Returns: A request to send over another connection. Call ``cancellationSent(now:)`` when it is sent. Nil when
    ///   none is due.
    /// - Throws: `PostgresError.connectionLost` when the server has not heeded the requests.
    func dueCancellation(now: ContinuousClock.Instant) throws(PostgresError) -> CancelRequest? {
        guard let head = pipeline.head, head.isAbandoned, let since = pipeline.headSince else { return nil }
        // It may wait for a standby. PostgreSQL would answer a cancellation with a commit that a failover may lose.
        guard !head.statement.commits else { return nil }
        switch cancellation.due(runningSince: since, now: now) {
        case .nothing: return nil
        case .giveUp: throw .connectionLost("the server did not cancel a statement")
        case .send:
            guard let request = libpq.cancelRequest() else { throw .connectionLost("out of memory") }
            pipeline.cancelling()
            return request
        }
    }

    /// Whether a commit that nobody waits for any more has taken too long.
    func hasOverdueCommit(now: ContinuousClock.Instant) -> Bool {
        guard let head = pipeline.head, head.isAbandoned, head.statement.commits else { return false }
        return head.deadline.map { $0 <= now } ?? false
    }

    func cancellationSent(now: ContinuousClock.Instant) {
        cancellation.sent(now: now)
    }

    /// The next deadline of ``overdue(now:)``, ``dueCancellation(now:)`` and ``hasOverdueCommit(now:)``.
    func nextDeadline(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let head = pipeline.head, let since = pipeline.headSince else { return nil }
        guard head.isAbandoned else { return pipeline.nextDeadline }
        guard head.statement.commits else {
            return earlier(cancellation.nextDeadline(runningSince: since), pipeline.nextDeadline)
        }
        return earlier(hasOverdueCommit(now: now) ? nil : head.deadline, pipeline.nextDeadline)
    }

    /// The statements under way when the connection broke, each with its error.
    func takeAll(after error: PostgresError) -> [(statement: Statement, error: PostgresError)] {
        let waiting = backlog.map { ($0, error) }
        backlog = []
        return pipeline.takeAll().filter { !$0.isAbandoned }.map { ($0.statement, $0.failure ?? error) } + waiting
    }

    /// Sends every statement as text from now on.
    func stopPreparing() {
        prepared = PreparedStatements(maxCount: 0)
    }

    /// Forgets a prepared statement that the server does not know any more.
    func forgetPrepared(_ query: PostgresQuery, now: ContinuousClock.Instant) throws(PostgresError) {
        if let name = prepared.spoiled(query) { try deallocate(name, now: now) }
    }

    private func mayFollow(_ statement: Statement) -> Bool {
        if isRunningScript { return false }
        guard case .script = statement.content else { return true }
        return pipeline.isEmpty
    }

    /// Sends a statement, by its name or as text.
    ///
    /// - Parameters:
    ///   - query: The statement.
    ///   - isOnce: Whether it is sent only once, so that preparing it is useless.
    ///   - now: The time.
    /// - Returns: Whether it is being prepared.
    /// - Throws: `PostgresError.connectionLost`.
    private func send(
        _ query: PostgresQuery,
        isOnce: Bool,
        now: ContinuousClock.Instant
    ) throws(PostgresError) -> Bool {
        switch isOnce ? .unprepared : prepared.use(query) {
        case .ready(let name):
            try libpq.sendExecute(name: name, query: query)
            return false
        case .unprepared:
            try libpq.sendUnprepared(query)
            return false
        case .prepare(let name, let evicted):
            if let evicted { try deallocate(evicted, now: now) }
            try libpq.sendPrepare(name: name, query: query)
            try libpq.sendExecute(name: name, query: query)
            return true
        }
    }

    private func deallocate(_ name: String, now: ContinuousClock.Instant) throws(PostgresError) {
        let query = PostgresQuery(stringLiteral: "DEALLOCATE \(name)")
        try synchronize()
        try libpq.sendUnprepared(query)
        let statement = Statement(query, timeout: nil, purpose: .upkeep, start: now)
        pipeline.sent(statement, isPreparing: false, now: now, deadline: nil)
        try synchronize()
    }

    private func receive(
        _ result: consuming LibPQResult,
        now: ContinuousClock.Instant
    ) throws(PostgresError) -> [Entry] {
        let answer: PipelineStateMachine<Statement>.Answer
        switch result.kind {
        case .rows: answer = .rows(result.rows())
        case .failure(let error): answer = .failure(error)
        case .skipped: answer = .skipped
        case .synchronized: answer = .synchronized
        // libpq returns such a result until the data is sent, and this client sends none.
        case .copy: throw .connectionLost("COPY from or to the client is not supported")
        }
        return apply(pipeline.received(answer, now: now))
    }

    private func endScript(now: ContinuousClock.Instant) throws(PostgresError) -> [Entry] {
        isRunningScript = false
        if libpq.isBroken { return apply(pipeline.received(.synchronized, now: now)) }
        try libpq.setPipelineMode(true)
        return apply(pipeline.received(.synchronized, now: now))
    }

    private func apply(_ event: PipelineStateMachine<Statement>.Event) -> [Entry] {
        switch event {
        case .none: break
        case .prepared(let statement):
            if case .query(let query) = statement.content { prepared.prepared(query) }
        case .notPrepared(let statement):
            if case .query(let query) = statement.content { prepared.refused(query) }
        case .finished(let entries):
            return entries
        }
        return []
    }

    /// Ends the batch that is open, if one is.
    private func synchronize() throws(PostgresError) {
        guard pipeline.isBatchOpen, !isRunningScript else { return }
        isFlushed = false
        try libpq.sendSync()
        pipeline.synchronizing()
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
