extension PostgresClient {
    /// Changes many rows in batches, so that no statement takes long.
    ///
    /// - Parameters:
    ///   - rowCount: How many rows one statement changes at most.
    ///   - name: What metrics and spans call it; the calling function's name unless another is given.
    ///   - query: Makes a statement with that limit.
    /// - Throws: `PostgresError`; what was changed until then stays so.
    package func writeInBatches(
        of rowCount: Int = 5_000,
        name: String = #function,
        _ query: (_ rowCount: Int) -> PostgresQuery
    ) async throws {
        while try await write(query(rowCount), name: name) >= rowCount {}
    }
}

extension PostgresConnection {
    /// Changes many rows in batches, within a transaction.
    ///
    /// - Parameters:
    ///   - rowCount: How many rows one statement changes at most.
    ///   - name: What metrics and spans call it; the calling function's name unless another is given.
    ///   - query: Makes a statement with that limit.
    /// - Throws: `PostgresError`.
    package func executeInBatches(
        of rowCount: Int = 10_000,
        name: String = #function,
        _ query: (_ rowCount: Int) -> PostgresQuery
    ) async throws {
        while try await execute(query(rowCount), name: name) >= rowCount {}
    }
}
