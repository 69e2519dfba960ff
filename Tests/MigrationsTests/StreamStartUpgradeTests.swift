import DatabaseTestSupport
import Postgres
import Testing

@testable import Migrations

@Suite("Upgrades of what streams know of starts", .timeLimit(.minutes(1)))
struct StreamStartUpgradeTests {
    private static func migrator(_ url: String, upTo version: String = "20261126000100") throws -> Migrator {
        let migrations = try TestCluster.migrations().filter { $0.version <= version }
        return Migrator(configuration: try .patient(url: url), migrations: migrations)
    }

    /// Changes each user's stream under another start of PostgreSQL.
    private static func change(_ client: PostgresClient) async throws {
        try await client.write("UPDATE streams SET started_at = started_at - INTERVAL '1 day'")
        try await client.write("UPDATE streams SET seq = seq + 10")
    }

    @Test("Starts under which nobody read, and which have one number, become one; down and up again nothing is lost")
    func unread() async throws {
        try await TestCluster.withEmptyDatabase { url in
            _ = try await Self.migrator(url, upTo: "20261126000000").up()
            try await TestCluster.withClient(url) { client in
                try await client.write(
                    """
                    INSERT INTO users (first_name, last_name, email, password_hash, member_id)
                    VALUES ('', '', 'ada@example.com', '', 'a')
                    """
                )
                for _ in 0..<2 { try await Self.change(client) }
                try await client.write(
                    """
                    INSERT INTO database_starts (id, started_at, table_oid, mark, identity)
                    VALUES (1, now(), 1, 42, 'cluster timeline table')
                    """
                )
                for _ in 0..<3 {
                    _ = try await Self.migrator(url).up()
                    #expect(try await Self.starts(client) == ["1 0"])
                    let rows = try await client.read(
                        "SELECT identity LIKE 'cluster timeline table _%' AS is_named FROM database_starts"
                    )
                    #expect(try rows[0].decode("is_named") as Bool)
                    #expect(try await Self.migrator(url).down(.last(1))?.count == 1)
                }
                try await Self.change(client)
                _ = try await Self.migrator(url).up()
                #expect(try await Self.starts(client) == ["1 0", "2 20"])
                try await Self.change(client)
                #expect(try await Self.starts(client) == ["1 0", "2 20"])
            }
        }
    }

    @Test("With one table, what is numbered keeps the start of its last change; down and up again, all can be written")
    func oneTable() async throws {
        try await TestCluster.withEmptyDatabase { url in
            _ = try await Self.migrator(url, upTo: "20261127003100").up()
            try await TestCluster.withClient(url) { client in
                for name in ["ada", "bob", "eve"] {
                    try await client.write(
                        """
                        INSERT INTO users (first_name, last_name, email, password_hash, member_id)
                        VALUES ('', '', \(name), '', \(name))
                        """
                    )
                }
                try await client.write("UPDATE streams SET seq = 5 WHERE id = 1")
                try await client.write("UPDATE streams SET started_at = started_at - INTERVAL '1 day'")
                // As those have it that were numbered before starts were known.
                try await client.write("ALTER TABLE streams DISABLE TRIGGER USER")
                try await client.write("UPDATE streams SET seq = 7 WHERE id = 2")
                try await client.write("ALTER TABLE streams ENABLE TRIGGER USER")
                _ = try await Self.migrator(url, upTo: "20261128000100").up()
                #expect(try await Self.spans(client) == ["1 0 true", "2 0 false"])
                try await client.write("UPDATE streams SET seq = seq + 1")
                try await client.write("UPDATE streams SET seq = seq + 1")
                #expect(try await Self.spans(client) == ["1 0 true", "1 5 true", "2 0 false", "2 7 true", "3 0 true"])
                #expect(try await Self.migrator(url, upTo: "20261128000100").down(.last(1))?.count == 1)
                try await client.write("UPDATE streams SET seq = seq + 1")
                _ = try await Self.migrator(url, upTo: "20261128000100").up()
                try await client.write("UPDATE streams SET seq = seq + 1")
                try await client.write("DELETE FROM users WHERE id = 1")
                #expect(try await Self.spans(client) == ["2 0 true", "3 0 true"])
            }
        }
    }

    /// Such as `1 5 true`: a stream, the number after which a start begins, and whether it is known when that was.
    private static func spans(_ client: PostgresClient) async throws -> [String] {
        try await client.read(
            """
            SELECT concat_ws(' ', stream_id, last_before, (started_at > to_timestamp(0))::text) AS line
            FROM stream_starts ORDER BY stream_id, last_before
            """
        )
        .map { try $0.decode("line") }
    }

    /// What streams know, such as `1 0`: the number of a start, and that of the last change before it.
    private static func starts(_ client: PostgresClient) async throws -> [String] {
        try await client.read("SELECT start_id || ' ' || last_before AS line FROM stream_starts ORDER BY start_id")
            .map { try $0.decode("line") }
    }
}
