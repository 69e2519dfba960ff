package import Postgres
package import TestSupport
import Testing

/// Statements that are cancelled, or not, at whatever point they happen to be.
package enum RandomCancellation {
    /// Runs a statement of one kind or another, and expects its answer unless it was cancelled.
    ///
    /// - Parameters:
    ///   - number: What the statement is to answer, in `id`; a transaction keeps it in `things` for a while.
    ///   - client: Runs it.
    ///   - slow: Makes a statement that takes a while.
    ///   - generator: Says which kind it is, whether it is cancelled, and when.
    /// - Returns: Whether it was answered.
    /// - Throws: Its failure, unless that is the cancellation.
    package static func run(
        _ number: Int,
        on client: PostgresClient,
        slow: @escaping @Sendable (Int) -> PostgresQuery,
        using generator: inout SplitMix64
    ) async throws -> Bool {
        let kind = Int.random(in: 0..<4, using: &generator)
        let task = Task { () -> Int in
            switch kind {
            case 0:
                try await client.withTransaction { connection in
                    try await connection.execute("INSERT INTO things VALUES (\(number))")
                    let row = try await connection.query("DELETE FROM things WHERE id = \(number) RETURNING id")[0]
                    return try row.decode("id")
                }
            case 1: try await client.withConnection { try await $0.query("SELECT \(number) AS id")[0].decode("id") }
            case 2: try await client.read(slow(number))[0].decode("id")
            default: try await client.read("SELECT \(number) AS id")[0].decode("id")
            }
        }
        if Bool.random(using: &generator) {
            for _ in 0..<Int.random(in: 0..<20, using: &generator) { await Task.yield() }
            task.cancel()
        }
        switch await task.result {
        case .success(let answer):
            #expect(answer == number)
            return true
        case .failure(let error):
            guard task.isCancelled else { throw error }
            return false
        }
    }
}
