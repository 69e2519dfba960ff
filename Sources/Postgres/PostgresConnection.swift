import Synchronization

/// One connection to the server; its blocking calls run on a thread of its own.
package actor PostgresConnection {
    private nonisolated let executor = ConnectionExecutor()
    private let configuration: PostgresConfiguration
    private var libpq: LibPQ?
    private var statementNames: [StatementKey: String] = [:]

    /// What a prepared statement is good for: a NULL's type is inferred, so one text may be prepared for several types.
    private struct StatementKey: Hashable {
        let sql: String
        let types: [PostgresType]
    }

    private nonisolated let usage = Mutex(Usage(isReusable: false, end: .now))

    /// What the pool needs to know of a connection without a detour over its thread.
    struct Usage {
        /// Whether it is open, sound, and in no transaction.
        var isReusable: Bool
        /// When its last statement ended.
        var end: ContinuousClock.Instant
    }

    /// How many statements a connection keeps prepared; the service's are a few dozen.
    private static let preparedStatementsMax = 256

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Names a connection that is not open yet.
    package init(configuration: PostgresConfiguration) {
        self.configuration = configuration
    }

    /// Connects, and sets what the decoding of results relies on.
    ///
    /// - Throws: `PostgresError.cannotConnect`, with libpq's reason.
    package func open() throws(PostgresError) {
        let libpq = try LibPQ.begin(url: configuration.url)
        let deadline = Deadline(after: configuration.connectTimeout)
        try libpq.connect(by: deadline)
        _ = try libpq.execute(script: "SET timezone = 'UTC'", by: deadline)
        self.libpq = consume libpq
        noteUsage()
    }

    /// Closes the connection; the server rolls an open transaction back.
    package func close() {
        libpq = nil
        statementNames = [:]
        noteUsage()
    }

    /// Runs a statement and returns its rows.
    ///
    /// - Parameter query: The statement, prepared once per connection and text.
    /// - Returns: The rows, none for a statement that returns none.
    /// - Throws: `PostgresError`; after one that breaks the connection, it is closed.
    @discardableResult
    package func query(_ query: PostgresQuery) throws(PostgresError) -> PostgresRows {
        try attempt { libpq throws(PostgresError) in
            let deadline = Deadline(after: configuration.statementTimeout)
            let name = try preparedName(of: query, on: libpq, by: deadline)
            return try libpq.execute(prepared: name, query: query, by: deadline)
        }
    }

    /// Runs a statement for its effect.
    ///
    /// - Parameter query: The statement.
    /// - Returns: The number of rows it inserted, updated or deleted.
    /// - Throws: `PostgresError`; after one that breaks the connection, it is closed.
    @discardableResult
    package func execute(_ query: PostgresQuery) throws(PostgresError) -> Int {
        try self.query(query).storage.affectedRows
    }

    /// Runs statements separated by semicolons, without parameters and without a time limit.
    ///
    /// For migrations, whose text is the operator's own, and for BEGIN and its like.
    ///
    /// - Parameter script: The statements.
    /// - Throws: `PostgresError`; after one that breaks the connection, it is closed.
    package func execute(script: String) throws(PostgresError) {
        _ = try attempt { libpq throws(PostgresError) in
            try libpq.execute(script: script, by: Deadline(after: nil))
        }
    }

    /// The state after the last statement.
    nonisolated var lastUsage: (isReusable: Bool, end: ContinuousClock.Instant) {
        usage.withLock { ($0.isReusable, $0.end) }
    }

    /// Whether a statement of the open transaction failed, so that COMMIT would roll back, and report success.
    var hasFailedTransaction: Bool {
        libpq?.hasFailedTransaction ?? false
    }

    private func noteUsage() {
        let isInTransaction = libpq?.isInTransaction ?? true
        usage.withLock { $0 = Usage(isReusable: !isInTransaction, end: .now) }
    }

    /// Whether the connection is open as far as can be seen without waiting.
    func isAlive() -> Bool {
        guard let isDead = libpq?.isDead() else { return false }
        return !isDead
    }

    private func attempt(
        _ body: (borrowing LibPQ) throws(PostgresError) -> PostgresRows
    ) throws(PostgresError) -> PostgresRows {
        do {
            defer { noteUsage() }
            return try withLibPQ(body)
        } catch {
            if error.breaksConnection { close() }
            throw error
        }
    }

    private func withLibPQ(
        _ body: (borrowing LibPQ) throws(PostgresError) -> PostgresRows
    ) throws(PostgresError) -> PostgresRows {
        switch libpq {
        case .some(let libpq): try body(libpq)
        case .none: throw .connectionLost("the connection is closed")
        }
    }

    private func preparedName(
        of query: PostgresQuery,
        on libpq: borrowing LibPQ,
        by deadline: Deadline
    ) throws(PostgresError) -> String {
        let key = StatementKey(sql: query.sql, types: query.parameters.map(\.type))
        if let name = statementNames[key] { return name }
        // Beyond the limit the unnamed statement, which each use replaces, keeps memory bounded at the server.
        let name = statementNames.count < Self.preparedStatementsMax ? "selfie_\(statementNames.count)" : ""
        try libpq.prepare(name: name, query: query, by: deadline)
        if !name.isEmpty { statementNames[key] = name }
        return name
    }
}
