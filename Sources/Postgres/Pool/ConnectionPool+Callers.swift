import NIOCore

/// How callers wait for what they ask a pool for, from any thread.
extension ConnectionPool {
    /// Runs a statement on any connection.
    ///
    /// - Parameters:
    ///   - query: The statement.
    ///   - isUrgent: Whether it is the next to run, before those that wait.
    /// - Returns: Its rows, or why there are none.
    nonisolated func run(
        _ query: PostgresQuery,
        isUrgent: Bool = false
    ) async -> Result<PostgresRows, PostgresError> {
        await awaiting { pool, id, answer in
            let statement = Statement(
                id: id,
                content: .query(query),
                timeout: pool.statementTimeout,
                purpose: .unleased,
                completion: { answer.resume(returning: $0) }
            )
            pool.run(statement, isUrgent: isUrgent)
        }
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
        await awaiting(isCancellable: isCancellable) { pool, id, answer in
            let isScript = if case .script = content { true } else { false }
            let statement = Statement(
                id: id,
                content: content,
                timeout: isScript ? nil : pool.statementTimeout,
                purpose: .leased(lease),
                completion: { answer.resume(returning: $0) }
            )
            pool.run(statement, on: lease)
        }
    }

    /// Lends a connection that nobody else uses meanwhile.
    nonisolated func lease() async -> Result<LeaseID, PostgresError> {
        await awaiting { pool, id, answer in pool.lease(as: id, answer) }
    }

    /// Finds the row of a key.
    nonisolated func lookUp(_ lookup: PostgresLookup, key: [UInt8]) async -> Result<PostgresRow?, PostgresError> {
        await awaiting { pool, id, answer in pool.lookUp(lookup, key: key, as: id, answer) }
    }

    /// Runs `body` on the event loop and waits for its answer.
    ///
    /// A cancelled task gets `cancelled` as its answer.
    private nonisolated func awaiting<Success>(
        isCancellable: Bool = true,
        _ body: @escaping @Sendable (isolated ConnectionPool, UInt64, Answer<Success>) -> Void
    ) async -> Result<Success, PostgresError> {
        let id = makeID()
        guard isCancellable else {
            return await withCheckedContinuation { answer in ask(id, answer, body) }
        }
        guard !Task.isCancelled else { return .failure(.cancelled) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { answer in
                ask(id, answer, body)
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { cancelLater(id) }
            }
        } onCancel: {
            cancelLater(id)
        }
    }

    private nonisolated func ask<Success>(
        _ id: UInt64,
        _ answer: Answer<Success>,
        _ body: @escaping @Sendable (isolated ConnectionPool, UInt64, Answer<Success>) -> Void
    ) {
        // A caller on the loop needs no hand-over.
        if eventLoop.inEventLoop {
            assumeIsolated { body($0, id, answer) }
        } else {
            eventLoop.execute { self.assumeIsolated { body($0, id, answer) } }
        }
    }

    private nonisolated func cancelLater(_ id: UInt64) {
        eventLoop.execute { self.assumeIsolated { $0.cancel(id) } }
    }
}
