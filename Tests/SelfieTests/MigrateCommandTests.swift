import DatabaseTestSupport
import Foundation
import Migrations
import Postgres
import ProcessTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@Suite("selfie migrate", .timeLimit(.minutes(3)))
struct MigrateCommandTests {
    private static let versions = (try? TestCluster.migrations().map(\.fileName)) ?? []

    private struct Folder: Sendable {
        let url: URL
        let databaseURL: String

        func migrate(_ arguments: [String]) async throws -> ProgramOutcome {
            try await SelfieProcess.run(
                ["migrate"] + arguments,
                environment: ["DATABASE_URL": databaseURL],
                directory: url
            )
        }
    }

    /// Runs a body with an empty database and a folder that has the project's migrations.
    private func withFolder(_ body: (Folder) async throws -> Void) async throws {
        try await TestCluster.withEmptyDatabase { databaseURL in
            try await TemporaryFolder.with { url in
                try url.copyMigrations()
                try await body(Folder(url: url, databaseURL: databaseURL))
            }
        }
    }

    @Test("Without a subcommand it goes up, and says what it did; status shows it as a table", arguments: [[], ["up"]])
    func up(arguments: [String]) async throws {
        try await withFolder { folder in
            let before = try await folder.migrate(["status"])
            #expect(before.status == 0)
            let lines = before.output.split(separator: "\n").map(String.init)
            #expect(lines.first?.split(separator: " ") == ["STATE", "VERSION", "NAME"])
            #expect(lines.count == Self.versions.count + 1)
            #expect(lines.contains { $0.hasPrefix("pending  20140826080603  create_users") })

            let up = try await folder.migrate(arguments)
            #expect(up.status == 0)
            #expect(up.output == Self.versions.map { "Applied \($0)\n" }.joined())
            #expect(try await folder.migrate(arguments).output == "The database is up to date.\n")
            let after = try await folder.migrate(["status"])
            #expect(after.output.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix("applied  2") })
        }
    }

    @Test("Down reverts the last step, or the given number, and lists them before")
    func down() async throws {
        try await withFolder { folder in
            _ = try await folder.migrate([])
            let one = try await folder.migrate(["down", "--yes"])
            #expect(one.output == "Reverted \(Self.versions.last ?? "")\n")
            #expect(one.errors.contains("may delete data.\n  \(Self.versions.last ?? "")\n"))
            let rest = Self.versions.dropLast().reversed().map { "Reverted \($0)\n" }
            #expect(try await folder.migrate(["down", "2", "--yes"]).output == rest.prefix(2).joined())
            let all = try await folder.migrate(["down", "99", "--yes", "--including-railsauth"])
            #expect(all.output == rest.dropFirst(2).joined())
            let none = try await folder.migrate(["down", "--yes"])
            #expect(none.output == "No migration is applied.\n")
            #expect(none.status == 0)
        }
    }

    @Test("Down stops before railsauth's own tables, and reverts nothing at all")
    func railsauth() async throws {
        try await withFolder { folder in
            _ = try await folder.migrate([])
            // All but two of railsauth's.
            for arguments in [["99"], ["--to", "20140826080603"], ["\(Self.versions.count - 2)"]] {
                let refused = try await folder.migrate(["down", "--yes"] + arguments)
                #expect(refused.status != 0)
                #expect(refused.errors.contains("add --including-railsauth"))
                #expect(refused.output.isEmpty)
            }
            #expect(try await folder.migrate([]).output == "The database is up to date.\n")
        }
    }

    @Test("Down to a version reverts all after it")
    func downToVersion() async throws {
        try await withFolder { folder in
            _ = try await folder.migrate([])
            let third = String(try #require(Self.versions.dropLast(2).last?.prefix(14)))
            let outcome = try await folder.migrate(["down", "--to", third, "--yes"])
            #expect(outcome.output == Self.versions.suffix(2).reversed().map { "Reverted \($0)\n" }.joined())
            let again = try await folder.migrate(["down", "--to", third, "--yes"])
            #expect(again.status == 0)
            #expect(again.output == "No migration is applied after \(third).\n")
            let unknown = try await folder.migrate(["down", "--to", "19990101000000", "--yes"])
            #expect(unknown.status != 0)
            #expect(unknown.errors.contains("The database has no version 19990101000000"))
            let both = try await folder.migrate(["down", "2", "--to", third, "--yes"])
            #expect(both.status != 0)
        }
    }

    @Test("Down asks on a terminal, and anything but yes changes nothing; without one it wants --yes")
    func question() async throws {
        try await withFolder { folder in
            _ = try await folder.migrate([])
            let mute = try await folder.migrate(["down"])
            #expect(mute.status != 0)
            #expect(mute.errors.contains("There is no terminal for the confirmation. Use --yes."))
            for (answer, isYes) in [("n", false), ("", false), ("y", true)] {
                let outcome = try await TerminalProcess.run(
                    ["migrate", "down", "--migrations", folder.url.appending(path: "migrations").path],
                    environment: ["DATABASE_URL": folder.databaseURL],
                    typing: answer
                )
                #expect((outcome.status == 0) == isYes)
                #expect(outcome.errors.contains("Revert 1 migration? [y/N] "))
                #expect(outcome.errors.contains("Nothing was changed.") == !isYes)
                #expect(outcome.output == (isYes ? "Reverted \(Self.versions.last ?? "")\n" : ""))
            }
        }
    }

    @Test("A file that was edited is named by up and status, which end with a non-zero status")
    func edited() async throws {
        try await withFolder { folder in
            _ = try await folder.migrate([])
            let file = folder.url.appending(path: "migrations/20140828132607_create_photos.sql")
            try Data((String(contentsOf: file, encoding: .utf8) + "-- more\n").utf8).write(to: file)
            for arguments in [["up"], ["status"]] {
                let outcome = try await folder.migrate(arguments)
                #expect(outcome.status != 0)
                #expect(outcome.errors.contains("Edited after they were applied: 20140828132607_create_photos.sql"))
            }
            #expect(try await folder.migrate(["status"]).output.contains("edited   20140828132607  create_photos"))
        }
    }

    @Test("A version whose file is missing is shown, and can't be reverted")
    func missingFile() async throws {
        try await withFolder { folder in
            _ = try await folder.migrate([])
            let last = try #require(Self.versions.last)
            try FileManager.default.removeItem(at: folder.url.appending(path: "migrations/\(last)"))
            #expect(try await folder.migrate(["status"]).output.contains("no file  \(last.prefix(14))"))
            let down = try await folder.migrate(["down", "--yes"])
            #expect(down.status != 0)
            #expect(down.errors.contains("Version \(last.prefix(14)) was applied, but its file is missing"))
        }
    }

    @Test("New makes an empty file named by the time, which up then applies")
    func new() async throws {
        try await withFolder { folder in
            _ = try await folder.migrate([])
            let made = try await SelfieProcess.run(["migrate", "new", "Add phone to users"], directory: folder.url)
            #expect(made.status == 0)
            let match = try #require(
                made.output.wholeMatch(of: /Created (migrations\/([0-9]{14}_add_phone_to_users\.sql))\n/)
            )
            let file = folder.url.appending(path: String(match.1))
            #expect(try String(contentsOf: file, encoding: .utf8) == "-- migrate:up\n\n-- migrate:down\n\n")
            #expect(try await folder.migrate([]).output == "Applied \(match.2)\n")
            let versions = try await TestCluster.withClient(folder.databaseURL) { client in
                try await client.read("SELECT version FROM schema_migrations").count
            }
            #expect(versions == Self.versions.count + 1)
        }
    }

    @Test("An unreachable database, and a missing DATABASE_URL, are reported without the URL")
    func unreachable() async throws {
        try await TemporaryFolder.with { folder in
            try folder.copyMigrations()
            let address = "postgresql://nobody:hunter2@127.0.0.1:1/none"
            let outcome = try await SelfieProcess.run(
                ["migrate"],
                environment: ["DATABASE_URL": address],
                directory: folder
            )
            #expect(outcome.status != 0)
            #expect(outcome.errors.contains("The database can't be reached:\n"))
            #expect(outcome.errors.contains("Check DATABASE_URL, and that PostgreSQL is running."))
            #expect(!outcome.errors.contains("hunter2"))
            let missing = try await SelfieProcess.run(["migrate"], directory: folder)
            #expect(missing.status != 0)
            #expect(missing.errors.contains("DATABASE_URL is missing"))
            #expect(!missing.errors.contains("API_AUTH_NAME"))
        }
    }

    @Test("Ten processes at once apply each step once, and all of them succeed")
    func tenAtOnce() async throws {
        try await withFolder { folder in
            let outcomes = try await withThrowingTaskGroup(of: ProgramOutcome.self) { tasks in
                for _ in 0..<10 { tasks.addTask { try await folder.migrate([]) } }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.allSatisfy { $0.status == 0 })
            let applied = outcomes.flatMap { $0.output.split(separator: "\n") }.filter { $0.hasPrefix("Applied ") }
            #expect(applied == Self.versions.map { "Applied \($0)" })
            try await TestCluster.withDatabase { new async throws in
                #expect(try await DatabaseDump.lines(url: folder.databaseURL) == DatabaseDump.lines(url: new))
            }
        }
    }
}
