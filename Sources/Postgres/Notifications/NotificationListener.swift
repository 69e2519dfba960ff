import NIOCore

/// Listens to one channel on a connection of its own, which it opens again whenever it is lost.
actor NotificationListener {
    private nonisolated let eventLoop: any EventLoop
    /// Kept here, because the loop does not keep its executor.
    private nonisolated let executor: any SerialExecutor
    private let configuration: PostgresConfiguration
    private let query: PostgresQuery
    private let events: AsyncStream<PostgresNotificationEvent>.Continuation
    private var connection: PipelinedConnection?
    private var isConnecting = false
    private var isStopped = false
    private var backOff: BackOff
    private var wakeUpCall = WakeUpCall()
    /// Whether the listener must first get `mayHaveMissed`.
    private(set) var hasMissed = true
    private var isSubscribed = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        channel: String,
        configuration: PostgresConfiguration,
        events: AsyncStream<PostgresNotificationEvent>.Continuation
    ) {
        self.configuration = configuration
        self.events = events
        eventLoop = configuration.eventLoopGroup.next()
        executor = eventLoop.executor
        query = PostgresQuery(stringLiteral: "LISTEN \"\(channel.replacing("\"", with: "\"\""))\"")
        backOff = BackOff(longest: configuration.pool.maxBackOff)
    }

    /// Starts to listen, until ``stop()``.
    nonisolated func start() {
        eventLoop.execute { self.assumeIsolated { $0.turn() } }
    }

    /// Ends the connection and the sequence.
    nonisolated func stop() {
        events.finish()
        eventLoop.execute {
            self.assumeIsolated { listener in
                listener.isStopped = true
                listener.connection = nil
                listener.wakeUpCall.cancel()
            }
        }
    }

    /// Does what is due, and requests a call for the next event.
    private func turn() {
        guard !isStopped else { return }
        let now = eventLoop.instant
        if let connection {
            do throws(PostgresError) {
                try connection.flush()
                guard connection.overdue(now: now).isEmpty else { throw .statementTimedOut(isAnswered: false) }
                if isSubscribed, hasMissed { yield(nil) }
            } catch {
                lose()
            }
        } else if !isConnecting, backOff.allowsAttempt(now: now) {
            connect()
        }
        var deadline = connection.map { $0.nextDeadline(after: now) } ?? (isConnecting ? nil : backOff.nextAttempt)
        // A listener that was too slow gets `mayHaveMissed` as soon as there is room, even if nothing more arrives.
        if isSubscribed, hasMissed { deadline = earlier(deadline, now + Self.patience) }
        wakeUpCall.ask(for: deadline, on: eventLoop) {
            self.assumeIsolated { listener in
                listener.wakeUpCall.called()
                listener.turn()
            }
        }
    }

    private static let patience: Duration = .milliseconds(100)

    private func receive() {
        defer { turn() }
        guard let connection else { return }
        let (finished, failure) = connection.receive(now: eventLoop.instant)
        guard failure == nil, finished.allSatisfy({ $0.failure == nil }) else { return lose() }
        if !finished.isEmpty {
            isSubscribed = true
            backOff.reset()
        }
        guard isSubscribed else { return }
        for notification in connection.takeNotifications() { yield(notification) }
    }

    /// Passes an event to the listener.
    ///
    /// A listener that is too slow gets `mayHaveMissed` later.
    private func yield(_ notification: PostgresNotification?) {
        if hasMissed {
            guard case .enqueued = events.yield(.mayHaveMissed) else { return }
            hasMissed = false
        }
        guard let notification else { return }
        if case .dropped = events.yield(.notification(notification)) { hasMissed = true }
    }

    private func lose() {
        connection = nil
        isSubscribed = false
        hasMissed = true
        backOff.failed(now: eventLoop.instant, jitter: .random(in: 0...1))
    }

    private func connect() {
        isConnecting = true
        LibPQ.connect(url: configuration.url, parameters: configuration.connectParameters) { outcome in
            // A task would begin on Swift's own executor, where it waits while others keep all threads busy.
            self.eventLoop.execute { self.assumeIsolated { $0.connected(outcome) } }
        }
    }

    private func connected(_ outcome: Result<Handover<LibPQ>, PostgresError>) {
        isConnecting = false
        defer { turn() }
        guard !isStopped else { return }
        guard case .success(let handover) = outcome, let libpq = handover.take() else { return lose() }
        let connection = PipelinedConnection(libpq, keepsNotifications: true) { [weak self, eventLoop] in
            eventLoop.execute { [weak self] in self?.assumeIsolated { $0.receive() } }
        }
        self.connection = connection
        let now = eventLoop.instant
        let statement = Statement(query, timeout: configuration.connectTimeout, purpose: .setUp, start: now)
        do throws(PostgresError) {
            try connection.send(statement, now: now)
        } catch {
            lose()
        }
    }
}
