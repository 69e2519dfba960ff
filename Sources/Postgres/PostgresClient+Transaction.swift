extension PostgresClient {
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
                try await connection.finish("COMMIT")
                return result
            } catch {
                // A connection that can't roll back is not reusable, so the pool closes it, which rolls back too.
                _ = try? await connection.finish("ROLLBACK")
                throw error
            }
        }
    }
}
