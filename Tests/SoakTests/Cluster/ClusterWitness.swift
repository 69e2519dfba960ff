import Foundation
import Postgres

/// Writes at each database host by itself, so that two primaries would be seen.
struct ClusterWitness: Sendable {
    struct Write: Sendable {
        let host: String
        let number: Int
    }

    private static let pause: Duration = .seconds(1)

    let cluster: Cluster

    func prepare(_ postgres: PostgresClient) async throws {
        try await postgres.write("DROP TABLE IF EXISTS cluster_witness")
        try await postgres.write("CREATE TABLE cluster_witness (host text, number int, PRIMARY KEY (host, number))")
    }

    /// Writes until a time.
    ///
    /// - Returns: What was committed, in the order of the answers.
    /// - Throws: An error of Foundation's.
    func run(until end: ContinuousClock.Instant) async throws -> [Write] {
        let (stream, continuation) = AsyncStream.makeStream(of: Write.self)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for host in Cluster.databases {
                tasks.addTask {
                    for number in 0... {
                        let statement = "INSERT INTO cluster_witness VALUES ('\(host)', \(number))"
                        if try await cluster.insert(statement, at: host) {
                            continuation.yield(Write(host: host, number: number))
                        }
                        try await Task.sleep(for: Self.pause)
                        if ContinuousClock.now >= end { return }
                    }
                }
            }
            try await tasks.waitForAll()
        }
        continuation.finish()
        var writes: [Write] = []
        for await write in stream { writes.append(write) }
        return writes
    }

    /// How many times the host that commits has changed.
    static func changes(_ writes: [Write]) -> Int {
        zip(writes, writes.dropFirst()).count { $0.host != $1.host }
    }

    /// How many times it may have changed: once for each loss of a primary.
    static func maxChanges(_ losses: [ClusterLosses.Loss]) -> Int { losses.count(where: \.takesPrimary) }

    /// Which of the committed rows the database does not have.
    static func missing(_ writes: [Write], _ postgres: PostgresClient) async throws -> [String] {
        let rows = try await postgres.read("SELECT host || ' ' || number AS row FROM cluster_witness")
        let there = Set(try rows.map { try $0.decode("row", as: String.self) })
        return writes.map { "\($0.host) \($0.number)" }.filter { !there.contains($0) }
    }
}
