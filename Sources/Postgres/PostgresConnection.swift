/// A connection on loan: its statements run one after another, and nobody else's in between.
package struct PostgresConnection: Sendable {
    private let pool: ConnectionPool
    let lease: ConnectionPool.LeaseID

    init(pool: ConnectionPool, lease: ConnectionPool.LeaseID) {
        self.pool = pool
        self.lease = lease
    }

    /// Runs a statement and returns its rows.
    ///
    /// - Parameter query: The statement, prepared once per connection and text.
    /// - Returns: The rows, none for a statement that returns none.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows {
        try await pool.run(.query(query), on: lease).get()
    }

    /// Runs a statement for its effect.
    ///
    /// - Parameter query: The statement.
    /// - Returns: The number of rows it inserted, updated or deleted.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func execute(_ query: PostgresQuery) async throws(PostgresError) -> Int {
        try await self.query(query).storage.affectedRows
    }

    /// Runs statements separated by semicolons, without parameters and without a time limit on the client's side.
    ///
    /// For migrations, whose text is the operator's own.
    ///
    /// - Parameter script: The statements.
    /// - Throws: `PostgresError`.
    package func execute(script: String) async throws(PostgresError) {
        _ = try await pool.run(.script(script), on: lease).get()
    }

    /// Runs a statement that the cancellation of the calling task leaves alone.
    func finish(_ query: PostgresQuery) async throws(PostgresError) {
        _ = try await pool.run(.query(query), on: lease, isCancellable: false).get()
    }

    /// Whether a statement of the open transaction failed, so that COMMIT would roll back, and report success.
    var hasFailedTransaction: Bool {
        get async { await pool.hasFailedTransaction(on: lease) }
    }
}
