import Synchronization

/// A bounded pool of connections to one database.
///
/// Connections are opened on demand and kept. `close()` ends it.
package final class PostgresClient: Sendable {
    private struct Waiter {
        let continuation: CheckedContinuation<PostgresConnection?, any Error>
        let timeout: Task<Void, any Error>

        func resume(with result: Result<PostgresConnection?, any Error>) {
            timeout.cancel()
            continuation.resume(with: result)
        }
    }

    private struct State {
        var machine: PoolStateMachine<PostgresConnection>
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let configuration: PostgresConfiguration
    private let state: Mutex<State>

    /// Makes a client; no connection is opened yet.
    package init(configuration: PostgresConfiguration) {
        self.configuration = configuration
        state = Mutex(State(machine: PoolStateMachine(connectionsMax: configuration.connectionsMax)))
    }

    /// Runs `body` with a client, and closes the client however that ends.
    ///
    /// - Parameters:
    ///   - configuration: The database and the limits.
    ///   - body: What to do with the client.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    package static func withClient<Result>(
        configuration: PostgresConfiguration,
        _ body: (PostgresClient) async throws -> Result
    ) async throws -> Result {
        let client = PostgresClient(configuration: configuration)
        do {
            let result = try await body(client)
            await client.close()
            return result
        } catch {
            await client.close()
            throw error
        }
    }

    /// Runs one statement on any connection.
    ///
    /// - Parameter query: The statement.
    /// - Returns: Its rows.
    /// - Throws: `PostgresError`.
    package func query(_ query: PostgresQuery) async throws -> PostgresRows {
        try await withConnection { try await $0.query(query) }
    }

    /// Runs one statement for its effect on any connection.
    ///
    /// - Parameter query: The statement.
    /// - Returns: The number of rows it inserted, updated or deleted.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func execute(_ query: PostgresQuery) async throws -> Int {
        try await withConnection { try await $0.execute(query) }
    }

    /// Lends a connection for the length of `body`.
    ///
    /// - Parameter body: What to do with it; the connection must not be used after it returns.
    /// - Returns: What `body` returns.
    /// - Throws: `PostgresError`, or what `body` throws.
    package func withConnection<Result>(
        _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try await lease()
        do {
            let result = try await body(connection)
            await giveBack(connection)
            return result
        } catch {
            await giveBack(connection)
            throw error
        }
    }

    /// Runs `body` between BEGIN and COMMIT; whatever it throws rolls back, and so does a failure that it hides.
    ///
    /// - Parameter body: The statements of the transaction.
    /// - Returns: What `body` returns.
    /// - Throws: `PostgresError`, or what `body` throws.
    package func withTransaction<Result>(
        _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        try await withConnection { connection in
            try await connection.query("BEGIN")
            do {
                let result = try await body(connection)
                if await connection.hasFailedTransaction { throw PostgresError.server(.failedTransaction) }
                try await connection.query("COMMIT")
                return result
            } catch {
                // A connection that can't roll back is not reusable, so the pool closes it, which rolls back too.
                _ = try? await connection.query("ROLLBACK")
                throw error
            }
        }
    }

    /// Closes idle connections and refuses new leases; connections on loan are closed when they come back.
    package func close() async {
        let (idle, waiting) = state.withLock { state in
            let (idle, waiters) = state.machine.close()
            return (idle, waiters.compactMap { state.waiters.removeValue(forKey: $0) })
        }
        for waiter in waiting { waiter.resume(with: .failure(PostgresError.clientClosed)) }
        for connection in idle { await connection.close() }
    }

    private func lease() async throws -> PostgresConnection {
        if let connection = try await idleConnection() {
            let isTrusted = connection.lastUsage.end + configuration.trustedIdleTime > .now
            if isTrusted { return connection }
            if await connection.isAlive() { return connection }
            await connection.close()
        }
        let fresh = PostgresConnection(configuration: configuration)
        do {
            try await fresh.open()
            return fresh
        } catch {
            await giveBack(fresh)
            throw error
        }
    }

    /// An idle connection, or nil for leave to open one.
    private func idleConnection() async throws -> PostgresConnection? {
        let id = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { enlist($0, as: id) }
        } onCancel: {
            refuse(waiter: id, with: .cancelled)
        }
    }

    private func enlist(_ continuation: CheckedContinuation<PostgresConnection?, any Error>, as id: UInt64) {
        // The handler of a task that is cancelled already has run before there was anything to refuse.
        guard !Task.isCancelled else { return continuation.resume(throwing: PostgresError.cancelled) }
        let action = state.withLock { state in
            let action = state.machine.lease(waiter: id)
            if case .wait = action {
                let timeout = Task { [leaseTimeout = configuration.leaseTimeout] in
                    try await Task.sleep(for: leaseTimeout)
                    self.refuse(waiter: id, with: .leaseTimedOut)
                }
                state.waiters[id] = Waiter(continuation: continuation, timeout: timeout)
            }
            return action
        }
        switch action {
        case .use(let connection): continuation.resume(returning: connection)
        case .open: continuation.resume(returning: nil)
        case .wait: break
        case .refuse: continuation.resume(throwing: PostgresError.clientClosed)
        }
    }

    private func refuse(waiter id: UInt64, with error: PostgresError) {
        let waiter = state.withLock { state in
            state.machine.cancel(waiter: id) ? state.waiters.removeValue(forKey: id) : nil
        }
        waiter?.resume(with: .failure(error))
    }

    private func giveBack(_ connection: PostgresConnection) async {
        let isReusable = connection.lastUsage.isReusable
        if !isReusable { await connection.close() }
        let (action, waiter) = state.withLock { state in
            let action = state.machine.giveBack(isReusable ? connection : nil)
            guard case .hand(_, let id) = action else { return (action, Waiter?.none) }
            return (action, state.waiters.removeValue(forKey: id))
        }
        switch action {
        case .none: break
        case .hand(let connection, _): waiter?.resume(with: .success(connection))
        case .close(let connection): await connection.close()
        }
    }
}
