import DatabaseTestSupport
import ServerProcesses
import Testing

@testable import Postgres
@testable import SelfieAccounts

@Suite("Look-ups of many calls", .timeLimit(.minutes(2)))
struct SharedLookupTests {
    @Test("Twenty sign-ins at the same time find their accounts with two statements at most")
    func signIns() async throws {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { other in
                try await other.write(
                    """
                    INSERT INTO users (first_name, last_name, email, password_hash)
                    SELECT '', '', n || '@example.com', '' FROM generate_series(1, 20) AS n
                    """
                )
                // One connection, since only its own statements can be counted.
                var configuration = try PostgresConfiguration.direct(url: url, maxConnections: 1)
                configuration.pool.slowness = .seconds(600)
                configuration.pool.leaseTimeout = .seconds(120)
                configuration.statementTimeout = .seconds(120)
                try await PostgresClient.withClient(configuration: configuration) { postgres in
                    let emails = (1...20).map { "\($0)@example.com" }
                    #expect(try await Self.find(emails, with: postgres, lockingWith: other) == emails.sorted())
                    let rows = try await postgres.read(
                        """
                        SELECT generic_plans + custom_plans AS calls FROM pg_prepared_statements
                        WHERE statement LIKE '%FROM users%' AND statement NOT LIKE '%pg_prepared_statements%'
                        """
                    )
                    let calls = try rows.map { try $0.decode("calls", as: Int.self) }
                    #expect((1...2).contains(calls.reduce(0, +)), "\(calls)")
                }
            }
        }
    }

    /// Looks for accounts while the table is locked, and lets go when all are looked for.
    ///
    /// - Parameters:
    ///   - emails: The accounts' e-mails.
    ///   - postgres: Finds them.
    ///   - other: Locks the table.
    /// - Returns: The e-mails of those that were found, sorted.
    /// - Throws: `PostgresError`, or `NotInTime`.
    private static func find(
        _ emails: [String],
        with postgres: PostgresClient,
        lockingWith other: PostgresClient
    ) async throws -> [String] {
        let users = UserStore(postgres: postgres)
        return try await withThrowingTaskGroup(of: String?.self) { signIns in
            try await other.withTransaction { connection in
                try await connection.query("LOCK TABLE users")
                for email in emails {
                    signIns.addTask { try await users.find(email: email, from: "192.0.2.1")?.user.email }
                }
                try await poll("all ask") { await postgres.pools[0].lookupCallerCount == emails.count }
            }
            var found: [String] = []
            for try await email in signIns { if let email { found.append(email) } }
            return found.sorted()
        }
    }
}
