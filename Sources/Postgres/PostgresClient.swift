import CoreMetrics
import NIOCore
import Synchronization

/// A client of one database.
///
/// It runs the statements of all callers over a bounded number of connections.
///
/// Connections are opened on demand and reused. `close()` closes them.
package final class PostgresClient: Sendable {
    /// A pool for each event loop, or fewer where connections are few.
    let pools: [ConnectionPool]
    private let callCount = Atomic(0)
    private let observer: StatementObserver
    let standby: StandbyReader?
    let configuration: PostgresConfiguration
    let listeners = ListenerRegistry()

    /// Makes a client; no connection is opened yet.
    package init(configuration: PostgresConfiguration) {
        self.configuration = configuration
        let eventLoops = Array(configuration.eventLoopGroup.makeIterator())
        let metrics = PoolMetrics(
            factory: configuration.metrics ?? NOOPMetricsHandler.instance,
            prefix: configuration.metricsPrefix
        )
        let reachability = ReachabilityReport(configuration)
        pools = zip(configuration.pool.divided(amongLoops: eventLoops.count), eventLoops).map { limits, eventLoop in
            ConnectionPool(
                configuration: configuration,
                limits: limits,
                metrics: metrics,
                reachability: reachability,
                eventLoop: eventLoop
            )
        }
        observer = StatementObserver(metrics: configuration.metrics, tracer: configuration.tracer)
        standby = configuration.forStandby.map(StandbyReader.init)
    }

    deinit {
        listeners.close()
        for pool in pools { pool.stop() }
    }

    /// The pool on the caller's event loop, or else each in turn.
    private var pool: ConnectionPool {
        if let pool = pools.first(where: \.eventLoop.inEventLoop) { return pool }
        return pools[callCount.add(1, ordering: .relaxed).oldValue % pools.count]
    }

    /// Runs `body` with a client, and closes the client afterwards in any case.
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

    /// Runs one statement that only reads, in a transaction of its own.
    ///
    /// It shares a connection with statements of other callers, and is run again when one of them fails. So it must
    /// change nothing, and be quick. Use ``write(_:)`` or ``withConnection(_:)`` for one that may wait for a lock.
    ///
    /// - Parameters:
    ///   - query: The statement.
    ///   - name: What metrics and spans call it; the calling function's name unless another is given.
    /// - Returns: Its rows.
    /// - Throws: `PostgresError`.
    package func read(
        _ query: PostgresQuery,
        name: String = #function
    ) async throws(PostgresError) -> PostgresRows {
        try await observer.observe(name) { await pool.run(query) }
    }

    /// Runs one statement like ``read(_:name:)``, from a standby if that has replayed the task's ``ReadPosition``.
    ///
    /// In a task without a position, and without a standby that answers, the primary is read.
    ///
    /// - Parameters:
    ///   - query: The statement. Its columns have names of their own.
    ///   - name: What metrics and spans call it.
    /// - Returns: Its rows.
    /// - Throws: `PostgresError`.
    package func readFromStandby(
        _ query: PostgresQuery,
        name: String = #function
    ) async throws(PostgresError) -> PostgresRows {
        if let standby, let position = ReadPosition.current,
            let rows = await standby.rows(query, after: position, name: name)
        {
            return rows
        }
        return try await read(query, name: name)
    }

    /// Runs one statement like ``read(_:name:)``, before all that wait.
    ///
    /// It is for checks whether the database answers. They must not depend on the length of the queue. Run few of them.
    ///
    /// - Parameters:
    ///   - query: The statement.
    ///   - name: What metrics and spans call it.
    /// - Returns: Its rows.
    /// - Throws: `PostgresError`.
    package func readFirst(_ query: PostgresQuery, name: String) async throws(PostgresError) -> PostgresRows {
        try await observer.observe(name) { await pool.run(query, isUrgent: true) }
    }

    /// Finds one row by a key, in one statement with the look-ups of other callers.
    ///
    /// An error of that statement is the error of all. So no key may make it fail, or slow.
    ///
    /// - Parameters:
    ///   - lookup: How to find it.
    ///   - key: The key.
    ///   - name: What metrics and spans call it; the calling function's name unless another is given.
    /// - Returns: The row; nil when there is none.
    /// - Throws: `PostgresError`.
    package func lookUp(
        _ lookup: PostgresLookup,
        key: [UInt8],
        name: String = #function
    ) async throws(PostgresError) -> PostgresRow? {
        try await observer.observe(name) { await pool.lookUp(lookup, key: key) }
    }

    /// Runs one statement that changes rows, once, in a transaction and on a connection of its own.
    ///
    /// - Parameters:
    ///   - query: The statement.
    ///   - name: What metrics and spans call it; the calling function's name unless another is given.
    /// - Returns: The number of rows it inserted, updated or deleted.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func write(_ query: PostgresQuery, name: String = #function) async throws -> Int {
        try await withConnection { try await $0.execute(query, name: name) }
    }

    /// Leases a connection while `body` runs.
    ///
    /// Changes of the session (`SET`, temporary tables, advisory locks) stay for the next caller.
    ///
    /// - Parameter body: What to do with it; the connection can't be used after it returns.
    /// - Returns: What `body` returns.
    /// - Throws: `PostgresError`, or what `body` throws.
    package func withConnection<Result>(
        _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        let pool = pool
        let connection = PostgresConnection(pool: pool, observer: observer, lease: try await pool.lease().get())
        do {
            let result = try await body(connection)
            await pool.endLease(connection.lease)
            return result
        } catch {
            await pool.endLease(connection.lease)
            throw error
        }
    }

    /// Closes idle connections and refuses new callers; the other connections are closed when they are done.
    package func close() async {
        listeners.close()
        for pool in pools { await pool.close() }
        await standby?.client.close()
    }
}
