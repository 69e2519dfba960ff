import NIOCore

/// Listens to one channel on a connection of its own, which it opens again whenever it is lost.
actor NotificationListener {
    private nonisolated let eventLoop: any EventLoop
    /// Kept here, because the loop does not keep its executor.
    private nonisolated let executor: any SerialExecutor
    private let configuration: PostgresConfiguration
    private let query: PostgresQuery
    private let events: AsyncStream<PostgresNotificationEvent>.Continuation
    private var session: Session?
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
                listener.session = nil
                listener.wakeUpCall.cancel()
            }
        }
    }

    /// Does what is due, and asks to be called for what comes next.
    private func turn() {
        guard !isStopped else { return }
        let now = eventLoop.instant
        if let session {
            do throws(PostgresError) {
                try session.flush(now: now)
                guard session.overdue(now: now).isEmpty else { throw .statementTimedOut }
                if isSubscribed, hasMissed { yield(nil) }
            } catch {
                lose()
            }
        } else if !isConnecting, backOff.allowsAttempt(now: now) {
            connect()
        }
        var deadline = session.map { $0.nextDeadline } ?? (isConnecting ? nil : backOff.nextAttempt)
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
        guard let session else { return }
        let (finished, failure) = session.receive()
        if case .success? = finished?.outcome {
            isSubscribed = true
            backOff.reset()
        }
        guard failure == nil, isSubscribed || finished == nil else { return lose() }
        guard isSubscribed else { return }
        for notification in session.takeNotifications() { yield(notification) }
    }

    /// Hands an event on.
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
        session = nil
        isSubscribed = false
        hasMissed = true
        backOff.failed(now: eventLoop.instant, jitter: .random(in: 0...1))
    }

    private func connect() {
        isConnecting = true
        LibPQ.connect(url: configuration.url, parameters: configuration.connectParameters) { outcome in
            Task { await self.connected(outcome) }
        }
    }

    private func connected(_ outcome: Result<Handover<LibPQ>, PostgresError>) {
        isConnecting = false
        defer { turn() }
        guard !isStopped else { return }
        guard case .success(let handover) = outcome, let libpq = handover.take() else { return lose() }
        let session = Session(libpq, keepsNotifications: true) { [weak self, eventLoop] in
            eventLoop.execute { [weak self] in self?.assumeIsolated { $0.receive() } }
        }
        self.session = session
        session.send(Statement(setUp: query, timeout: configuration.connectTimeout), now: eventLoop.instant)
    }
}
