import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie doctor, database", .timeLimit(.minutes(5)))
struct DoctorDatabaseTests {
    @Test(
        "The reason why the database can't be reached is shown without its password",
        arguments: [
            ("postgresql://nobody:hidden-pass@127.0.0.1:1/none", "Connection refused"),
            ("postgresql://nobody:hidden-pass@host.invalid/none", "could not translate host name"),
            // libpq shows the folder, which has the password's word.
            ("postgresql://nobody:hidden-pass@/none?host=/nowhere/hidden-pass", "No such file or directory"),
        ]
    )
    func unreachable(url: String, expected: String) async throws {
        try await TemporaryFolder.with { folder in
            let run = try await DoctorRun(DoctorRun.settings(databaseURL: url, objects: .disk(folder)))
            #expect(run.status == 1)
            #expect(run.lines("FAILED").count == 1)
            #expect(run.lines("FAILED").allSatisfy { $0.hasPrefix("FAILED   Database: ") && $0.contains(expected) })
            #expect(run.text.contains("What to do: "))
            #expect(!run.text.contains("hidden-pass"))
            #expect(run.lines("skipped").count == 1)
        }
    }

    @Test("A database and a user that do not exist are named")
    func unknownNames() async throws {
        try await TestCluster.withDatabase { url in
            try await TemporaryFolder.with { folder in
                let database = try await DoctorRun(
                    DoctorRun.settings(
                        databaseURL: url.replacing(/\/test_\w+$/, with: "/absent"),
                        objects: .disk(folder)
                    )
                )
                #expect(database.status == 1)
                #expect(database.lines("FAILED").contains { $0.contains("database \"absent\" does not exist") })

                let user = try await DoctorRun(
                    DoctorRun.settings(databaseURL: "\(url)?user=stranger", objects: .disk(folder))
                )
                #expect(user.status == 1)
                #expect(user.lines("FAILED").contains { $0.contains("role \"stranger\" does not exist") })
            }
        }
    }

    @Test("A database without tables is sent to selfie migrate, and stays as it is")
    func notMigrated() async throws {
        try await TestCluster.withEmptyDatabase { url in
            try await TemporaryFolder.with { folder in
                let run = try await DoctorRun(DoctorRun.settings(databaseURL: url, objects: .disk(folder)))
                let count = try TestCluster.migrations().count
                #expect(run.status == 1)
                #expect(run.lines("FAILED") == ["FAILED   Database: \(count) of \(count) migrations not applied"])
                #expect(run.text.contains("What to do: Run: selfie migrate"))
                #expect(try await DatabaseDump.lines(url: url).isEmpty)
            }
        }
    }

    @Test("A pooler before the database is warned about, and all else is looked at through it")
    func pooler() async throws {
        try await TestCluster.withDatabase { url in
            try await Pgbouncer.with(url, sessions: 2) { pooled in
                try await TemporaryFolder.with { folder in
                    let run = try await DoctorRun(DoctorRun.settings(databaseURL: pooled, objects: .disk(folder)))
                    #expect(run.status == 0)
                    let warnings = run.lines("WARNING").filter { $0.contains("Database: ") }
                    #expect(warnings.count == 1 && warnings[0].contains("there is a pooler before it"))
                    #expect(run.lines("ok").contains { $0.contains("Database: its tables can be read and changed") })
                }
            }
        }
    }

    @Test("Edited files, missing files and a missing folder are distinguished")
    func migrationFiles() async throws {
        try await TestCluster.withDatabase { url in
            try await TemporaryFolder.with { folder in
                try folder.copyMigrations()
                let settings = DoctorRun.settings(databaseURL: url, objects: .disk(folder.appending(path: "objects")))
                let file = folder.appending(path: "migrations/20261121000200_create_sessions.sql")
                let contents = try Data(contentsOf: file)
                try (contents + Data("-- more\n".utf8)).write(to: file)
                let edited = try await DoctorRun(settings, directory: folder)
                #expect(edited.status == 1)
                #expect(edited.text.contains("FAILED Database: 1 migration edited after"))

                try FileManager.default.removeItem(at: file)
                let gone = try await DoctorRun(settings, directory: folder)
                #expect(gone.status == 0)
                #expect(gone.text.contains("WARNING Database: it has 1 migration that this version of Selfie does not"))

                let lost = try await DoctorRun(settings, ["--migrations", "elsewhere"], directory: folder)
                #expect(lost.status == 1)
                #expect(lost.text.contains("There is no readable folder of migrations at elsewhere."))
            }
        }
    }

    @Test("Missing permissions of the database's user are reported, with the statement that grants them")
    func privileges() async throws {
        try await TestCluster.withDatabase { url in
            try await TemporaryFolder.with { folder in
                let role = "doctor_\(UInt32.random(in: 0...UInt32.max))"
                try await RailsDatabase.run(
                    """
                    CREATE ROLE \(role) LOGIN;
                    REVOKE TEMPORARY ON DATABASE \(url.split(separator: "/").last ?? "") FROM PUBLIC;
                    GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(role);
                    GRANT INSERT, UPDATE, DELETE ON users TO \(role);
                    """,
                    url: url
                )
                let run = try await DoctorRun(
                    DoctorRun.settings(databaseURL: "\(url)?user=\(role)", objects: .disk(folder))
                )
                try await RailsDatabase.run("DROP OWNED BY \(role); DROP ROLE \(role);", url: url)
                #expect(run.status == 1)
                #expect(run.text.contains("WARNING Database: its user may not make temporary tables"))
                let tables = """
                    photos, photo_libraries, sessions, object_deletions, rate_limits, known_addresses, audit_events, \
                    undecryptable_passwords
                    """
                #expect(run.text.contains("may not read and change the tables \(tables)"))
                #expect(run.text.contains("ON \(tables) TO \(role)"))
            }
        }
    }

    @Test("A database that takes no changes is a failure")
    func readOnly() async throws {
        try await TestCluster.withDatabase { url in
            try await TemporaryFolder.with { folder in
                let readOnly = "\(url)?options=-c%20default_transaction_read_only%3Don"
                let run = try await DoctorRun(DoctorRun.settings(databaseURL: readOnly, objects: .disk(folder)))
                #expect(run.status == 1)
                #expect(run.text.contains("FAILED Database: it is read only"))
            }
        }
    }

    @Test("Passwords of the last week that could not be decrypted are warned about, with what to do in the client")
    func undecryptablePasswords() async throws {
        try await TestCluster.withDatabase { databaseURL in
            _ = try await TestCluster.withClient(databaseURL) { postgres in
                try await postgres.write(
                    """
                    INSERT INTO undecryptable_passwords (day, reason, count, last_at)
                    SELECT date '2026-11-23' - age, reason, count, now() AT TIME ZONE 'UTC' - make_interval(hours => 24 * age + 1)
                    FROM (VALUES (0, 'other_key', 3), (6, 'other_key', 20), (7, 'other_key', 400), (1, 'not_base64', 1),
                        (2, 'plus_became_space', 2), (3, 'not_whole_blocks', 5), (9, 'not_base64', 900)) AS sample (age, reason, count)
                    """
                )
            }
            try await ServedSelfie.withObjects(.disk) { objects in
                let run = try await DoctorRun(DoctorRun.settings(databaseURL: databaseURL, objects: objects))
                #expect(run.status == 0)
                let warnings = run.lines("WARNING").filter { $0.contains("Passwords: ") }
                for (line, text) in zip(
                    warnings,
                    [
                        "23 passwords of the last 7 days not decrypted (other_key), the last at 2",
                        "5 passwords of the last 7 days not decrypted (not_whole_blocks), the last at 2",
                        "2 passwords of the last 7 days not decrypted (plus_became_space), the last at 2",
                        "1 password of the last 7 days not decrypted (not_base64), the last at 2",
                    ]
                ) {
                    #expect(line.hasPrefix("WARNING  Passwords: \(text)"), "\(line)")
                }
                #expect(warnings.count == 4)
                #expect(run.text.contains("docs/passwords.md#when-a-password-cant-be-decrypted"))
            }
        }
    }
}
