import DatabaseTestSupport
import Logging
import Postgres
import TestSupport
import Testing

@testable import SelfieCore

@Suite("Old rows", .timeLimit(.minutes(2)))
struct HousekeeperTests {
    /// Runs a body with a database that has one account, and a housekeeper who waits to be asked.
    private static func run(
        tokenLifetimeHours: Int = 24,
        auditRetentionDays: Int = 365,
        _ body: (PostgresClient, Housekeeper) async throws -> Void
    ) async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TestCluster.withClient(databaseURL) { postgres in
                try await postgres.write(
                    """
                    INSERT INTO users (id, first_name, last_name, email, password_hash)
                    VALUES (1, 'Ada', 'Lovelace', 'ada@example.com', 'none')
                    """
                )
                let housekeeper = Housekeeper(
                    postgres: postgres,
                    sessionLifetimeHours: tokenLifetimeHours,
                    auditRetentionDays: auditRetentionDays,
                    logger: TestLog().logger(level: .info)
                )
                try await body(postgres, housekeeper)
            }
        }
    }

    private static let minute = 60
    private static let day = 86_400

    /// Adds what had its time so many seconds ago.
    private static func add(age: Int, name: String, to postgres: PostgresClient) async throws {
        try await postgres.write(
            """
            WITH session AS (
                INSERT INTO sessions (user_id, token_digest, expires_at, device)
                VALUES (1, sha256(\(name)::text::bytea), now() AT TIME ZONE 'UTC' - make_interval(secs => \(age)), \(name))
            ), address AS (
                INSERT INTO known_addresses (user_id, network, last_used_at)
                VALUES (1, \(name), now() AT TIME ZONE 'UTC' - make_interval(secs => \(age)))
            ), window_of_limit AS (
                INSERT INTO rate_limits (key, count, window_ends_at)
                VALUES (\(name), 1, now() AT TIME ZONE 'UTC' - make_interval(secs => \(age)))
            )
            INSERT INTO audit_events (happened_at, event, address, request_id)
            VALUES (now() AT TIME ZONE 'UTC' - make_interval(secs => \(age)), 'sign_in', \(name), \(name))
            """
        )
    }

    private static func names(_ query: PostgresQuery, _ postgres: PostgresClient) async throws -> [String] {
        try await postgres.read(query).map { try $0.decode("name") }
    }

    @Test("Windows go at once, sessions a week after their end, sources after 90 days, addresses after 180")
    func ages() async throws {
        try await Self.run { postgres, housekeeper in
            let ages = [
                ("future", -Self.minute), ("0", 1), ("6", 7 * Self.day - Self.minute),
                ("7", 7 * Self.day + Self.minute),
                ("89", 90 * Self.day - Self.minute), ("90", 90 * Self.day + Self.minute),
                ("179", 180 * Self.day - Self.minute), ("180", 180 * Self.day + Self.minute),
            ]
            for (name, age) in ages { try await Self.add(age: age, name: name, to: postgres) }
            try await postgres.write(
                """
                INSERT INTO audit_events (happened_at, event, request_id)
                VALUES (now() AT TIME ZONE 'UTC' - interval '91 days', 'sign_in', 'of no address')
                """
            )
            for _ in 0..<2 {
                await housekeeper.tidy()
                #expect(
                    try await Self.names("SELECT device AS name FROM sessions ORDER BY id", postgres) == [
                        "future", "0", "6",
                    ]
                )
                #expect(try await Self.names("SELECT key AS name FROM rate_limits", postgres) == ["future"])
                let networks = try await Self.names(
                    "SELECT network AS name FROM known_addresses ORDER BY last_used_at DESC",
                    postgres
                )
                #expect(networks == ["future", "0", "6", "7", "89", "90", "179"])
                for column in ["address", "request_id"] {
                    let sources = try await Self.names(
                        """
                        SELECT CASE \(column) WHEN 'address' THEN address ELSE request_id END AS name
                        FROM audit_events WHERE num_nonnulls(address, request_id) > 0 ORDER BY id
                        """,
                        postgres
                    )
                    #expect(sources == ["future", "0", "6", "7", "89"])
                }
            }
            #expect(try await postgres.read("SELECT id FROM audit_events").count == 9)
        }
    }

    @Test("Events go when they are too old, and not a day before", arguments: [30, 365])
    func events(days: Int) async throws {
        try await Self.run(auditRetentionDays: days) { postgres, housekeeper in
            for (name, age) in [
                ("kept", days * Self.day - Self.minute), ("gone", days * Self.day + Self.minute), ("young", 1),
            ] {
                try await postgres.write(
                    """
                    INSERT INTO audit_events (happened_at, event, user_id)
                    VALUES (now() AT TIME ZONE 'UTC' - make_interval(secs => \(age)), \(name), 1)
                    """
                )
            }
            await housekeeper.tidy()
            let names = try await Self.names("SELECT event AS name FROM audit_events ORDER BY id", postgres)
            #expect(names == ["kept", "young"])
        }
    }

    @Test("Counts of undecryptable passwords go after 30 days")
    func undecryptablePasswords() async throws {
        try await Self.run { postgres, housekeeper in
            for (name, age) in [("kept", 30 * Self.day - Self.minute), ("gone", 30 * Self.day + Self.minute)] {
                try await postgres.write(
                    """
                    INSERT INTO undecryptable_passwords (reason, count, last_at)
                    VALUES (\(name), 1, now() AT TIME ZONE 'UTC' - make_interval(secs => \(age)))
                    """
                )
            }
            await housekeeper.tidy()
            #expect(try await Self.names("SELECT reason AS name FROM undecryptable_passwords", postgres) == ["kept"])
        }
    }

    @Test(
        "If tokens live long, addresses are stored for twice as long",
        arguments: [(90, 180), (91, 182), (365, 730)]
    )
    func longTokens(tokenDays: Int, days: Int) async throws {
        try await Self.run(tokenLifetimeHours: tokenDays * 24) { postgres, housekeeper in
            for (name, seconds) in [("kept", -Self.minute), ("removed", Self.minute)] {
                try await Self.add(age: days * Self.day + seconds, name: name, to: postgres)
            }
            await housekeeper.tidy()
            #expect(try await Self.names("SELECT network AS name FROM known_addresses", postgres) == ["kept"])
        }
    }

    @Test("A task that fails does not stop the others")
    func failures() async throws {
        try await Self.run { postgres, housekeeper in
            try await Self.add(age: 400 * Self.day, name: "old", to: postgres)
            for table in ["sessions", "rate_limits"] {
                try await postgres.write(PostgresQuery(stringLiteral: "DROP TABLE \(table) CASCADE"))
            }
            await housekeeper.tidy()
            for table in ["known_addresses", "audit_events"] {
                let rows = try await postgres.read(PostgresQuery(stringLiteral: "SELECT FROM \(table)"))
                #expect(rows.isEmpty, "\(table)")
            }
        }
    }

    @Test("However many there are, all are removed, batch by batch")
    func batches() async throws {
        try await Self.run { postgres, housekeeper in
            try await postgres.write(
                """
                WITH numbers AS (SELECT i, now() AT TIME ZONE 'UTC' - interval '1 year' AS time
                    FROM generate_series(1, 10001) AS i
                ), session AS (
                    INSERT INTO sessions (user_id, token_digest, expires_at)
                    SELECT 1, sha256(i::text::bytea), time FROM numbers
                ), address AS (
                    INSERT INTO known_addresses (user_id, network, last_used_at) SELECT 1, i::text, time FROM numbers
                ), window_of_limit AS (
                    INSERT INTO rate_limits (key, count, window_ends_at) SELECT i::text, 1, time FROM numbers
                )
                INSERT INTO audit_events (happened_at, event, address) SELECT time, 'sign_in', '192.0.2.1' FROM numbers
                """
            )
            await housekeeper.tidy()
            for table in ["sessions", "known_addresses", "rate_limits", "audit_events WHERE address IS NOT NULL"] {
                let rows = try await postgres.read(PostgresQuery(stringLiteral: "SELECT FROM \(table)"))
                #expect(rows.isEmpty, "\(table)")
            }
        }
    }
}
