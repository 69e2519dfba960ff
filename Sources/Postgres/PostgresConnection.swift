/// A leased connection: its statements run one after another, without those of other callers in between.
package struct PostgresConnection: Sendable {
    private let pool: ConnectionPool
    private let observer: StatementObserver
    let lease: ConnectionPool.LeaseID

    init(pool: ConnectionPool, observer: StatementObserver, lease: ConnectionPool.LeaseID) {
        self.pool = pool
        self.observer = observer
        self.lease = lease
    }

    /// Whether a pooler is in front of the server, so that each transaction may run in another session.
    ///
    /// Temporary tables and settings of a session are lost there, or other clients get them.
    package var isBehindPooler: Bool { get async { await pool.isBehindPooler } }

    /// Runs a statement and returns its rows.
    ///
    /// - Parameters:
    ///   - query: The statement, prepared once per connection and text.
    ///   - name: What metrics and spans call it; the calling function's name unless another is given.
    /// - Returns: The rows, none for a statement that returns none.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func query(
        _ query: PostgresQuery,
        name: String = #function
    ) async throws(PostgresError) -> PostgresRows {
        try await observer.observe(name) { await pool.run(.query(query), on: lease) }
    }

    /// Runs a statement for its effect.
    ///
    /// - Parameters:
    ///   - query: The statement.
    ///   - name: What metrics and spans call it; the calling function's name unless another is given.
    /// - Returns: The number of rows it inserted, updated or deleted.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func execute(_ query: PostgresQuery, name: String = #function) async throws(PostgresError) -> Int {
        try await self.query(query, name: name).storage.affectedRows
    }

    /// Runs statements separated by semicolons, without parameters and without a time limit on the client's side.
    ///
    /// For migrations only: their text comes with the program.
    ///
    /// - Parameters:
    ///   - script: The statements.
    ///   - name: What metrics and spans call it; the calling function's name unless another is given.
    /// - Throws: `PostgresError`.
    package func execute(script: String, name: String = #function) async throws(PostgresError) {
        _ = try await observer.observe(name) { await pool.run(.script(script), on: lease) }
    }

    /// Runs a statement that the cancellation of the calling task leaves alone.
    ///
    /// - Returns: The server's command tag, such as `COMMIT`.
    @discardableResult
    func finish(_ query: PostgresQuery) async throws(PostgresError) -> String {
        try await observer.observe(query.sql) { await pool.run(.query(query), on: lease, isCancellable: false) }.storage
            .commandTag
    }
}
