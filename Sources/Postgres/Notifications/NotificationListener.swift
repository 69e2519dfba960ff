import Foundation
import Glibc
import Synchronization

/// Listens to one channel on a connection of its own, which it opens again whenever it is lost.
actor NotificationListener {
    private nonisolated let reactor = Reactor()
    private let configuration: PostgresConfiguration
    private let query: PostgresQuery
    private let events: AsyncStream<PostgresNotificationEvent>.Continuation
    private var connection: PipelinedConnection?
    private var isConnecting = false
    private var backOff: BackOff
    /// Whether the listener is to be told that something was missed before anything else.
    private var hasMissed = true
    private var isSubscribed = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    init(
        channel: String,
        configuration: PostgresConfiguration,
        events: AsyncStream<PostgresNotificationEvent>.Continuation
    ) {
        self.configuration = configuration
        self.events = events
        query = PostgresQuery(stringLiteral: "LISTEN \"\(channel.replacing("\"", with: "\"\""))\"")
        backOff = BackOff(longest: configuration.pool.backOffMax)
    }

    /// Starts the thread, which keeps the listener until ``stop()``.
    nonisolated func start() {
        reactor.start(
            prepare: { self.assumeIsolated { $0.prepareToWait() } },
            handle: { ready in self.assumeIsolated { $0.handle(ready) } }
        )
    }

    /// Ends the thread and the sequence.
    nonisolated func stop() {
        events.finish()
        reactor.finish()
    }

    private func prepareToWait() -> Reactor.Wait {
        let now = ContinuousClock.now
        guard let connection else {
            if !isConnecting, backOff.allowsAttempt(now: now) { connect() }
            return Reactor.Wait(sockets: [], deadline: isConnecting ? nil : backOff.nextAttempt)
        }
        do throws(PostgresError) {
            try connection.flush()
            guard connection.overdue(now: now).isEmpty else { throw .statementTimedOut }
        } catch {
            lose()
            return Reactor.Wait(sockets: [], deadline: backOff.nextAttempt)
        }
        return Reactor.Wait(sockets: [connection.descriptor], deadline: connection.nextDeadline)
    }

    private func handle(_ ready: [pollfd]) {
        guard !ready.isEmpty, let connection else { return }
        let (finished, failure) = connection.receive(now: .now)
        guard failure == nil, finished.allSatisfy({ $0.failure == nil }) else { return lose() }
        if !finished.isEmpty {
            isSubscribed = true
            backOff.reset()
        }
        guard isSubscribed else { return }
        if hasMissed { tell(nil) }
        for notification in connection.takeNotifications() { tell(notification) }
    }

    /// Hands an event on, unless the listener is so slow that it must be told that it missed something.
    private func tell(_ notification: PostgresNotification?) {
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
        backOff.failed(now: .now, jitter: .random(in: 0...1))
    }

    private func connect() {
        isConnecting = true
        let (url, timeout) = (configuration.url, configuration.connectTimeout)
        LibPQ.connect(url: url, timeout: timeout) { outcome in
            Task { await self.connected(outcome) }
        }
    }

    private func connected(_ outcome: Result<Handover<LibPQ>, PostgresError>) {
        isConnecting = false
        guard case .success(let handover) = outcome, let libpq = handover.take() else { return lose() }
        let connection = PipelinedConnection(libpq, keepsNotifications: true)
        self.connection = connection
        let now = ContinuousClock.now
        let statement = Statement(query, timeout: configuration.connectTimeout, purpose: .setUp, start: now)
        do throws(PostgresError) {
            try connection.send(statement, now: now)
        } catch {
            lose()
        }
    }
}
