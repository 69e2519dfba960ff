import DatabaseTestSupport
import Postgres
import Testing

@testable import Migrations

@Suite("What a step back loses", .timeLimit(.minutes(2)))
struct MigrationLossTests {
    @Test(
        "Tables, columns and rows are found",
        arguments: [
            ("DROP TABLE a;", [.table("a")]), ("drop table if exists a , b cascade;", [.table("a"), .table("b")]),
            (
                "ALTER TABLE a DROP COLUMN b,\n  drop column IF EXISTS c;",
                [.column("b", of: "a"), .column("c", of: "a")]
            ),
            ("ALTER TABLE ONLY a DROP COLUMN b", [.column("b", of: "a")]),
            ("DELETE FROM a WHERE b;TRUNCATE TABLE c", [.rows(of: "a"), .rows(of: "c")]),
            ("ALTER TABLE a ALTER COLUMN b DROP NOT NULL, DROP CONSTRAINT c; DROP INDEX d;", []),
            ("-- DROP TABLE a;\nCREATE FUNCTION f() AS $x$ DELETE FROM a; $x$;", []),
            ("/* DROP TABLE a; */ ALTER TABLE a DROP b, ADD COLUMN c int", [.column("b", of: "a")]), ("", []),
            ("DO $$ BEGIN DELETE FROM a; END $$;", [.unknown(statement: "DO")]),
            (
                "DROP TABLE \"a\"; DROP TABLE public.a",
                ["\"a\"", "public.a"].map { .unknown(statement: "DROP TABLE \($0)") }
            ),
            ("INSERT INTO a VALUES ('--'); DROP TABLE b", [.table("b")]),
            ("-- don't\nDROP TABLE a; -- it's", [.table("a")]),
            (
                "INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 1",
                [.unknown(statement: "INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 1")]
            ),
            ("DROP SCHEMA a", [.unknown(statement: "DROP SCHEMA a")]),
            ("UPDATE a SET b = 1", [.unknown(statement: "UPDATE a SET b = 1")]),
            ("ALTER TABLE a ALTER b TYPE int", [.unknown(statement: "ALTER TABLE a ALTER b TYPE int")]),
        ] as [(String, [MigrationLoss])]
    )
    func losses(script: String, losses: [MigrationLoss]) {
        #expect(MigrationLoss.losses(of: script) == losses)
    }

    @Test("For each of the project's own steps, what is said to be lost is what is gone afterwards")
    func ownMigrations() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let migrations = try TestCluster.migrations()
            let migrator = Migrator(configuration: try .patient(url: url), migrations: migrations)
            _ = try await migrator.up()
            for migration in migrations.reversed() {
                let before = try await columns(url)
                _ = try await migrator.down(.last(1)) { steps in
                    #expect(steps.map(\.migration) == [migration])
                    return true
                }
                let gone = before.subtracting(try await columns(url))
                let losses = MigrationLoss.losses(of: migration.down)
                let expected = before.filter { name in
                    losses.contains { loss in
                        switch loss {
                        case .table(let table): name.hasPrefix("\(table).")
                        case .column(let column, let table): name == "\(table).\(column)"
                        case .rows, .unknown: false
                        }
                    }
                }
                #expect(gone == expected, "\(migration.fileName)")
            }
        }
    }

    private func columns(_ url: String) async throws -> Set<String> {
        try await TestCluster.withClient(url) { client in
            let rows = try await client.read(
                """
                SELECT table_name || '.' || column_name AS name FROM information_schema.columns
                WHERE table_schema = 'public'
                """
            )
            return Set(try rows.map { try $0.decode("name", as: String.self) })
        }
    }

    @Test("Rows are counted, nothing happens until it is confirmed, and other steps than those confirmed are not taken")
    func confirmation() async throws {
        try await TestCluster.withEmptyDatabase { url in
            let steps = try (1...2).map { number in
                try Migration(
                    fileName: "2026010100000\(number)_step.sql",
                    contents: """
                        -- migrate:up
                        CREATE TABLE t\(number) (id int); INSERT INTO t\(number) SELECT generate_series(1, \(number));
                        -- migrate:down
                        DROP TABLE t\(number);
                        """
                )
            }
            let migrator = Migrator(configuration: try .patient(url: url), migrations: steps)
            _ = try await migrator.up()
            let refused = try await migrator.down(.last(9)) { steps in
                #expect(steps.map { $0.losses.map(\.rowCount) } == [[2], [1]])
                return false
            }
            #expect(refused == nil)
            #expect(try await migrator.status().entries.map(\.state) == [.applied, .applied])
            await #expect {
                try await migrator.down(.last(1)) { _ in
                    // Somebody else is faster.
                    _ = try await migrator.down(.last(1))
                    return true
                }
            } throws: {
                guard case MigrationError.changedMeanwhile = $0 else { return false }
                return true
            }
            #expect(try await migrator.status().entries.map(\.state) == [.applied, .pending])
        }
    }
}
