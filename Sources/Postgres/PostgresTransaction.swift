extension PostgresClient {
    /// How often a transaction is tried when it conflicts with others.
    private static let maxAttempts = 5

    /// Runs `body` between BEGIN and COMMIT.
    ///
    /// An error rolls back, even one that `body` catches.
    ///
    /// After a serialisation failure or a deadlock, in `body` or at COMMIT, everything starts again after a short
    /// pause. It is tried up to five times in all. So `body` must be safe to run twice.
    ///
    /// - Parameter body: The statements of the transaction.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, `PostgresTransactionError`, or `PostgresError` when it could not begin.
    package func withTransaction<Result>(
        _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        var attempt = 1
        while true {
            do {
                return try await withConnection { connection in
                    try await Self.run(body, on: connection)
                }
            } catch  where Self.isWorthRetrying(error) && attempt < Self.maxAttempts {
                let pause = Self.pause(configuration.retryPause, after: attempt, jitter: .random(in: 0...1))
                try await Task.sleep(for: pause)
                attempt += 1
            }
        }
    }

    /// The pause after an attempt: twice the one before, less a random part, so that rivals do not meet again.
    static func pause(_ first: Duration, after attempt: Int, jitter: Double) -> Duration {
        first * (1 << (attempt - 1)) * (1 - 0.5 * jitter)
    }

    private static func run<Result>(
        _ body: (PostgresConnection) async throws -> Result,
        on connection: PostgresConnection
    ) async throws -> Result {
        try await connection.query("BEGIN", name: "BEGIN")
        let result: Result
        do {
            result = try await body(connection)
        } catch {
            try await rollBack(connection, after: error)
            throw error
        }
        let outcome: String
        do throws(PostgresError) {
            outcome = try await connection.finish(.commit)
        } catch {
            throw PostgresTransactionError.commit(error)
        }
        // After a failed statement, PostgreSQL answers COMMIT with a rollback.
        if outcome == "ROLLBACK" { throw PostgresError.server(.failedTransaction) }
        return result
    }

    /// Rolls back even when the task was cancelled; a lost connection has rolled back already.
    private static func rollBack(_ connection: PostgresConnection, after cause: any Error) async throws {
        do throws(PostgresError) {
            try await connection.finish("ROLLBACK")
        } catch {
            switch error {
            case .connectionLost: return
            default: throw PostgresTransactionError.rollback(error, after: cause)
            }
        }
    }

    private static func isWorthRetrying(_ error: any Error) -> Bool {
        switch error {
        case let error as PostgresError: error.sqlState?.isWorthRetrying ?? false
        case PostgresTransactionError.commit(let error): error.sqlState?.isWorthRetrying ?? false
        default: false
        }
    }
}
