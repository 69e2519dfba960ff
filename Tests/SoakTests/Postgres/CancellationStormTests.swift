import DatabaseTestSupport
import Postgres
import Synchronization
import TestSupport
import Testing

@Suite("A storm of cancellations", .serialized, .timeLimit(.minutes(5)))
struct CancellationStormTests {
    @Test("Ten thousand statements, many of them cancelled at random: no wrong row, no transaction left open")
    func storm() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let configuration = try PostgresConfiguration.patient(url: url, connectionsMax: 4)
            try await PostgresClient.withClient(configuration: configuration) { client in
                try await client.execute("CREATE TABLE things (id int)")
                let cancelled = Atomic(0)
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for worker in 0..<20 {
                        group.addTask {
                            var generator = SplitMix64(seed: UInt64(worker))
                            var count = 0
                            for round in 0..<500 {
                                let number = worker * 1000 + round
                                count += try await Self.runOne(number, on: client, using: &generator) ? 0 : 1
                            }
                            return count
                        }
                    }
                    for try await count in group { cancelled.add(count, ordering: .relaxed) }
                }
                #expect(cancelled.load(ordering: .relaxed) > 100)
                #expect(try await client.query("SELECT * FROM things").isEmpty)
                try await poll("no transaction is open") {
                    let rows = try await client.query(
                        """
                        SELECT pid FROM pg_stat_activity
                        WHERE datname = current_database() AND state LIKE 'idle in transaction%'
                        """
                    )
                    return rows.isEmpty
                }
            }
        }
    }

    /// Runs a statement that is cancelled, or not, at whatever point it happens to be.
    ///
    /// - Returns: Whether it was answered.
    /// - Throws: Its failure, unless that is the cancellation.
    private static func runOne(
        _ number: Int,
        on client: PostgresClient,
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
            case 2: try await client.query("SELECT \(number) AS id, pg_sleep(0.001)")[0].decode("id")
            default: try await client.query("SELECT \(number) AS id")[0].decode("id")
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
