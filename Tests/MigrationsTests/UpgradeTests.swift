import DatabaseTestSupport
import Foundation
import Postgres
import Testing

@testable import Migrations

@Suite("Upgrades with data", .timeLimit(.minutes(3)))
struct UpgradeTests {
    private static let migrations = (try? TestCluster.migrations()) ?? []
    /// The last version of each day.
    ///
    /// No installation has one in between, and other tests take each step alone.
    private static let versions = Dictionary(grouping: migrations.map(\.version)) { $0.prefix(8) }
        .values.compactMap { $0.max() }.sorted()
    /// Rails' last one, and those that an installation may go back to.
    private static let earlierVersions = Array(versions.prefix(1) + versions.dropFirst().suffix(4))

    @Test("There are versions to go from")
    func versionCount() {
        #expect(Self.versions.count >= 7 && Self.versions.last == Self.migrations.last?.version)
    }

    @Test("From every version up, every row stays, and the tables end as on a new database", arguments: versions)
    func up(version: String) async throws {
        try await TestCluster.withEmptyDatabase { url in
            _ = try await Self.migrator(url, upTo: version).up()
            try await UpgradeRows.fill(url, at: version)
            let before = try await Contents(url)
            #expect(before.tables.values.allSatisfy { $0.count > 0 } && before.tables["users"]?.count == 3)
            if before.columns["photos"]?.contains("random_id") == false {
                try await Self.nameObjects(url)
            }
            _ = try await Self.migrator(url).up()

            let after = try await Contents(url)
            for (table, rows) in before.tables {
                let columns = try #require(before.columns[table])
                #expect(after.rows(of: table, columns: columns) == sorted(Self.asAdopted(rows, table)), "\(table)")
            }
            if before.tables["sessions"] == nil { try await Self.checkSessionsOfTokens(url) }
            if before.columns["photos"]?.contains("state") != true {
                #expect(after.tables["photos"]?.allSatisfy { $0["state"] == "ready" } == true)
            }
            try await Self.checkSchema(url)
        }
    }

    @Test(
        "Down to an earlier version and up again, its rows stay; only pending photos are removed",
        arguments: earlierVersions
    )
    func down(version: String) async throws {
        try await TestCluster.withEmptyDatabase { url in
            _ = try await Self.migrator(url).up()
            try await UpgradeRows.fill(url, at: try #require(Self.versions.last))
            let before = try await Contents(url)
            let count = Self.migrations.count { $0.version > version }
            #expect(try await Self.migrator(url).down(.last(count))?.count == count)

            let below = try await Contents(url)
            #expect(below.columns["users"] != nil)
            for (table, rows) in below.tables {
                var expected = before.rows(of: table, columns: try #require(below.columns[table]))
                if table == "photos", below.columns["photos"]?.contains("state") == false {
                    let pending = try #require(before.tables["photos"]?.filter { $0["state"] == "pending" })
                    #expect(pending.count == 1)
                    expected.removeAll { row in pending.contains { $0["id"] == row["id"] } }
                }
                #expect(sorted(rows) == expected, "\(table)")
            }
            if below.columns["photos"]?.contains("random_id") == false { try await Self.nameObjects(url) }
            _ = try await Self.migrator(url).up()

            let again = try await Contents(url)
            for (table, rows) in below.tables {
                #expect(again.rows(of: table, columns: try #require(below.columns[table])) == sorted(rows), "\(table)")
            }
            try await Self.checkSchema(url)
        }
    }

    @Test("Once a photo has another object, there is no way back to versions that do not know it")
    func strippedPhotos() async throws {
        try await TestCluster.withEmptyDatabase { url in
            _ = try await Self.migrator(url).up()
            try await UpgradeRows.fill(url, at: try #require(Self.versions.last))
            let count = Self.migrations.count { $0.version >= "20261128001500" }
            try await TestCluster.withClient(url) { client in
                try await client.write("UPDATE photos SET object_key = 'another' WHERE id = 1")
                let error = await #expect(throws: (any Error).self) {
                    try await Self.migrator(url).down(.last(count))
                }
                #expect("\(String(describing: error))".contains("earlier versions do not find their objects"))
                try await client.write("UPDATE photos SET object_key = NULL")
            }
            #expect(try await Self.migrator(url).down(.last(count))?.count == count)
        }
    }

    @Test("A database with unreleased tables is refused, with the command that reverts them")
    func unreleased() async throws {
        try await TestCluster.withEmptyDatabase { url in
            _ = try await Self.migrator(url, upTo: "20261127").up()
            try await TestCluster.withClient(url) { client in
                try await client.write("INSERT INTO schema_migrations (version) VALUES ('20261125000100')")
                await #expect {
                    _ = try await Self.migrator(url).up()
                } throws: {
                    "\($0)".contains("never released: 20261125000100.")
                        && "\($0)".contains("selfie migrate down --to 20261123000200")
                }
                try await client.write("DELETE FROM schema_migrations WHERE version = '20261125000100'")
            }
            _ = try await Self.migrator(url).up()
            try await Self.checkSchema(url)
        }
    }

    private static func migrator(_ url: String, upTo version: String = "9") throws -> Migrator {
        Migrator(
            configuration: try .patient(url: url),
            migrations: migrations.filter { $0.version <= version },
            lock: 1
        )
    }

    /// Photos without the names of their objects stop an upgrade, until each has one.
    private static func nameObjects(_ url: String) async throws {
        await #expect {
            _ = try await migrator(url).up()
        } throws: {
            "\($0)".contains("Photos without a random_id, which names their object in the bucket, by id: 1, 2,")
        }
        try await RailsDatabase.run("UPDATE photos SET random_id = 'object-' || id", url: url)
    }

    /// Rows as they are once e-mails are trimmed and tokens are digests.
    private static func asAdopted(_ rows: [[String: String]], _ table: String) -> [[String: String]] {
        guard table == "users" else { return rows }
        return rows.map { row in
            var row = row
            row["email"] = row["email"]?.trimmingCharacters(in: .whitespacesAndNewlines)
            row["api_authtoken"] = "null"
            row["authtoken_expiry"] = "null"
            return row
        }
    }

    private static func checkSessionsOfTokens(_ url: String) async throws {
        try await TestCluster.withClient(url) { client in
            let rows = try await client.read(
                """
                SELECT concat_ws(' ', user_id, expires_at, token_digest = sha256(\(Array(UpgradeRows.liveToken.utf8))),
                    token_digest = sha256(\(Array(UpgradeRows.undatedToken.utf8)))) AS line
                FROM sessions ORDER BY user_id
                """
            )
            #expect(
                try rows.map { try $0.decode("line", as: String.self) } == [
                    "2 9999-12-31 23:59:59.999999 t f", "2147483647 1970-01-01 00:00:00 f t",
                ]
            )
        }
    }

    /// Compares all but the rows with a database that went straight up.
    private static func checkSchema(_ url: String) async throws {
        try await TestCluster.withDatabase { new async throws in
            #expect(try await schema(of: url) == schema(of: new))
        }
    }

    /// Tables, columns, indexes, constraints, and what a dump of those leaves out.
    private static func schema(of url: String) async throws -> [String] {
        let lines = try await DatabaseDump.lines(url: url).filter { !$0.contains("{") }
        return try await TestCluster.withClient(url) { client in
            let more = try await client.read(
                """
                SELECT pg_get_triggerdef(oid) AS line FROM pg_trigger WHERE NOT tgisinternal
                UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
                UNION ALL SELECT concat_ws(' ', relname, relkind, relpersistence) FROM pg_class
                    WHERE relnamespace = 'public'::regnamespace
                UNION ALL SELECT concat_ws(' ', attrelid::regclass, attname, attidentity) FROM pg_attribute
                    WHERE attidentity <> ''
                ORDER BY 1
                """
            )
            return lines + (try more.map { try $0.decode("line", as: String.self) })
        }
    }
}

/// All rows of all tables except those about migrations.
private struct Contents {
    let columns: [String: Set<String>]
    let tables: [String: [[String: String]]]

    init(_ url: String) async throws {
        columns = try await UpgradeRows.columns(url)
        var tables: [String: [[String: String]]] = [:]
        for table in UpgradeRows.tables where columns[table] != nil {
            tables[table] = try await UpgradeRows.read(table, url)
        }
        self.tables = tables
    }

    /// A table's rows with some of their columns, sorted.
    func rows(of table: String, columns: Set<String>) -> [[String: String]] {
        sorted((tables[table] ?? []).map { $0.filter { columns.contains($0.key) } })
    }
}

/// Rows in an order that depends on nothing but what they hold.
private func sorted(_ rows: [[String: String]]) -> [[String: String]] {
    func text(_ row: [String: String]) -> String {
        row.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "|")
    }
    return rows.sorted { text($0) < text($1) }
}
