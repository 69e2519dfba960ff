import NIOCore

/// The requests of callers, from any thread, and how they wait for answers.
extension ConnectionPool {
    /// Runs a statement on any connection, along with others.
    ///
    /// - Parameters:
    ///   - query: The statement.
    ///   - isUrgent: Whether it is the next to run, before those that wait.
    /// - Returns: Its rows, or why there are none.
    nonisolated func run(
        _ query: PostgresQuery,
        isUrgent: Bool = false
    ) async -> Result<PostgresRows, PostgresError> {
        await awaiting { pool, id, continuation in
            let statement = pool.sharedStatement(query, as: id, now: pool.now) { continuation.resume(returning: $0) }
            guard !isUrgent else { return pool.requestFirst(statement) }
            pool.request(.statement, as: id, waiter: .statement(statement), now: statement.start)
        }
    }

    nonisolated func sharedStatement(
        _ query: PostgresQuery,
        as id: UInt64,
        now: ContinuousClock.Instant,
        completion: @escaping Statement.Completion
    ) -> Statement {
        Statement(
            id: id,
            content: .query(query),
            timeout: answerTimeout,
            purpose: .shared,
            start: now,
            completion: completion
        )
    }

    /// How long a statement may take until its answer.
    private nonisolated var answerTimeout: Duration? {
        configuration.statementTimeout.map { $0 + PostgresConfiguration.answerGrace }
    }

    /// Runs a statement on a leased connection.
    ///
    /// - Parameters:
    ///   - content: What to run.
    ///   - lease: The lease.
    ///   - isCancellable: Whether the cancellation of the calling task cancels it.
    /// - Returns: Its rows, or why there are none.
    nonisolated func run(
        _ content: Statement.Content,
        on lease: LeaseID,
        isCancellable: Bool = true
    ) async -> Result<PostgresRows, PostgresError> {
        await awaiting(isCancellable: isCancellable) { pool, id, continuation in
            var timeout = pool.answerTimeout
            if case .script = content { timeout = nil }
            let statement = Statement(
                id: id,
                content: content,
                timeout: timeout,
                purpose: .leased,
                start: pool.now,
                completion: { continuation.resume(returning: $0) }
            )
            pool.send(statement, on: lease)
        }
    }

    /// Leases a connection for one caller alone.
    nonisolated func lease() async -> Result<LeaseID, PostgresError> {
        await awaiting { pool, id, continuation in
            pool.request(.lease, as: id, waiter: .lease(continuation), now: pool.now)
        }
    }

    /// Finds the row of a key.
    nonisolated func lookUp(_ lookup: PostgresLookup, key: [UInt8]) async -> Result<PostgresRow?, PostgresError> {
        await awaiting { pool, id, continuation in pool.lookUp(lookup, key: key, as: id, continuation) }
    }

    /// Runs `body` on the event loop and waits for its answer.
    ///
    /// A cancelled task gets `cancelled` as its answer.
    nonisolated func awaiting<Success>(
        isCancellable: Bool = true,
        _ body:
            @escaping @Sendable (
                isolated ConnectionPool, UInt64, CheckedContinuation<Result<Success, PostgresError>, Never>
            ) -> Void
    ) async -> Result<Success, PostgresError> {
        let id = makeID()
        guard isCancellable else {
            return await withCheckedContinuation { continuation in ask(id, continuation, body) }
        }
        guard !Task.isCancelled else { return .failure(.cancelled) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ask(id, continuation, body)
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { cancelLater(id) }
            }
        } onCancel: {
            cancelLater(id)
        }
    }

    private nonisolated func ask<Success>(
        _ id: UInt64,
        _ continuation: CheckedContinuation<Result<Success, PostgresError>, Never>,
        _ body:
            @escaping @Sendable (
                isolated ConnectionPool, UInt64, CheckedContinuation<Result<Success, PostgresError>, Never>
            ) -> Void
    ) {
        // A caller on the loop needs no hand-over.
        if eventLoop.inEventLoop {
            assumeIsolated { body($0, id, continuation) }
        } else {
            onEventLoop { body($0, id, continuation) }
        }
    }

    /// Does something on the event loop, after its present work.
    ///
    /// A task would begin on Swift's own executor, where it waits while others keep all threads busy.
    nonisolated func onEventLoop(_ work: @escaping @Sendable (isolated ConnectionPool) -> Void) {
        eventLoop.execute { self.assumeIsolated(work) }
    }

    private nonisolated func cancelLater(_ id: UInt64) {
        onEventLoop { $0.cancel(id) }
    }
}
