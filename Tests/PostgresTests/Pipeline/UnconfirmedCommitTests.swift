import DatabaseTestSupport
import ServerProcesses
import Testing

@testable import Postgres

/// A primary commits only what its synchronous standby has.
///
/// PostgreSQL ends that wait when it is asked to cancel a
/// statement, and then reports success.
@Suite("Commits that wait for a standby", .timeLimit(.minutes(2)))
struct UnconfirmedCommitTests {
    enum Write: CaseIterable, Sendable {
        case statement
        case transaction

        func run(_ client: PostgresClient, id: Int) async throws {
            let insertion: PostgresQuery = "INSERT INTO things VALUES (\(id))"
            switch self {
            case .statement: try await client.write(insertion)
            case .transaction: try await client.withTransaction { _ = try await $0.execute(insertion) }
            }
        }
    }

    /// How many connections the client may have.
    private static let connections = 4

    private struct Commits {
        let client: PostgresClient
        let standby: Standby
        let other: PostgresClient

        func waiting() async throws -> Int {
            let waiting: PostgresQuery = "SELECT count(*) AS count FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            return try await other.read(waiting)[0].decode("count")
        }

        func isVisible(_ id: Int) async throws -> Bool {
            try await !other.read("SELECT 1 AS one FROM things WHERE id = \(id)").isEmpty
        }
    }

    /// Runs a body with a primary whose synchronous standby is down.
    private func withCommits(limit: Duration, _ body: (Commits) async throws -> Void) async throws {
        try await OwnCluster.use { cluster in
            try await cluster.withStandby { standby in
                try await withClient(url: cluster.url) { _ = try await $0.write("CREATE TABLE things (id int)") }
                try await standby.stop()
                try await cluster.set("synchronous_standby_names", "standby")
                try await withClient(url: cluster.url) { other in
                    try await poll("the server asks for a standby") {
                        try await other.read("SHOW synchronous_standby_names")[0].decode("synchronous_standby_names")
                            == "standby"
                    }
                    let adjust: (inout PostgresConfiguration) -> Void = {
                        $0.statementTimeout = limit
                        $0.pool.leaseTimeout = .milliseconds(500)
                    }
                    try await withClient(url: cluster.url, maxConnections: Self.connections, adjust: adjust) { client in
                        try await body(Commits(client: client, standby: standby, other: other))
                    }
                }
            }
        }
    }

    @Test("One that takes too long fails, and nobody sees it until the standby has it")
    func late() async throws {
        try await withCommits(limit: .milliseconds(200)) { commits async throws in
            for (id, write) in Write.allCases.enumerated() {
                await #expect(throws: (any Error).self) { try await write.run(commits.client, id: id) }
                #expect(try await commits.isVisible(id) == false)
            }
            #expect(try await commits.waiting() == 2)
            try await commits.standby.start()
            for id in Write.allCases.indices {
                try await poll("it is confirmed") { try await commits.isVisible(id) }
            }
            try await Write.transaction.run(commits.client, id: 2)
        }
    }

    @Test("Many hold few of the server's sessions, and readers are answered; all go on when the standby is back")
    func many() async throws {
        try await withCommits(limit: .milliseconds(200)) { commits async throws in
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<6 {
                    group.addTask {
                        for round in 0..<5 {
                            await #expect(throws: (any Error).self) {
                                try await Write.statement.run(commits.client, id: writer * 5 + round)
                            }
                        }
                    }
                }
            }
            // As many as the pool has were closed, and then all but one stayed.
            let waiting = try await commits.waiting()
            #expect(waiting > Self.connections)
            #expect(waiting <= 2 * Self.connections)
            #expect(try await commits.client.read("SELECT 1 AS one").count == 1)
            try await commits.standby.start()
            try await poll("all are confirmed") { try await commits.waiting() == 0 }
            try await Write.transaction.run(commits.client, id: 100)
            #expect(try await commits.isVisible(100))
        }
    }

    @Test("One whose caller is cancelled is not cancelled at the server", arguments: Write.allCases)
    func cancelledCaller(write: Write) async throws {
        try await withCommits(limit: .seconds(20)) { commits async throws in
            let task = Task { try await write.run(commits.client, id: 1) }
            try await poll("it waits") { try await commits.waiting() == 1 }
            task.cancel()
            for _ in 0..<20 {
                try await Task.sleep(for: .milliseconds(20))
                #expect(try await commits.waiting() == 1)
            }
            try await commits.standby.start()
            _ = await task.result
            try await poll("it is confirmed") { try await commits.isVisible(1) }
        }
    }

    @Test("One that an administrator cancels is no success", arguments: Write.allCases)
    func cancelledByOthers(write: Write) async throws {
        try await withCommits(limit: .seconds(20)) { commits async throws in
            let task = Task { try await write.run(commits.client, id: 1) }
            try await poll("it waits") { try await commits.waiting() == 1 }
            _ = try await commits.other.read(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            )
            await #expect(throws: (any Error).self) { try await task.value }
            #expect(try await commits.isVisible(1))
        }
    }
}
