import ArgumentParser
import Encodings
import FoundationEssentials
import Migrations
import SelfieConfiguration

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the database's schema up to date.",
        subcommands: [Up.self, Status.self, MigrateDown.self, New.self],
        defaultSubcommand: Up.self
    )

    struct Up: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Apply all pending migrations.")

        @OptionGroup var options: MigrationOptions

        func run() async throws {
            let applied = try await options.migrator().up()
            for migration in applied { print("Applied \(migration.fileName)") }
            if applied.isEmpty { print("The database is up to date.") }
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show which migrations are applied.",
            discussion: """
                A migration is applied, pending or edited, or its file is missing. Edited means that the file was \
                changed after it was applied.
                """
        )

        @OptionGroup var options: MigrationOptions

        func run() async throws {
            let entries = try await options.migrator().status().entries
            print(MigrationTable.text(entries))
            if entries.contains(where: { $0.state == .edited }) {
                throw MigrationError.edited(
                    try options.directory.load().filter { migration in
                        entries.contains { $0.version == migration.version && $0.state == .edited }
                    }
                )
            }
        }
    }

    struct New: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create an empty migration file.")

        @Argument(help: "What the migration does, such as add_phone_to_users.")
        var name: String

        @OptionGroup var options: MigrationOptions

        func run() async throws {
            print("Created \(try options.directory.create(name: name, date: Date()))")
        }
    }
}

struct MigrationOptions: ParsableArguments {
    @Option(name: .customLong("migrations"), help: "The folder of the SQL files.")
    var path = "migrations"

    var directory: MigrationDirectory { MigrationDirectory(path: path) }

    func migrator() async throws -> Migrator {
        Migrator(
            configuration: try ConfigurationSource.ofThisCommand().read { $0.postgres() },
            migrations: try directory.load(),
            lock: MigrationLock.number
        )
    }
}

/// The table that `migrate status` prints.
enum MigrationTable {
    static func text(_ entries: [MigrationPlan.Entry]) -> String {
        TextTable.text(
            [["STATE", "VERSION", "NAME"]] + entries.map { [$0.state.rawValue, $0.version, $0.name ?? ""] }
        )
    }
}

/// An error of migrations, with what to do about it in words of this program.
struct MigrationFailure: Error, CustomStringConvertible {
    let error: MigrationError

    var description: String {
        [error.description.trimmingWhitespace(), remedy].compactMap(\.self).joined(separator: "\n")
    }

    private var remedy: String? {
        switch error {
        case .unreachable: "Check DATABASE_URL, and that PostgreSQL is running."
        case .pooler: "Set DATABASE_URL to the database's own address."
        case .unreadableDirectory: "Run the command in the project's folder, or name the folder with --migrations."
        case .notApplied: "selfie migrate status lists the versions."
        case .protected:
            "It has the data of railsauth: all users, or all photos. To delete them, add --including-railsauth."
        default: nil
        }
    }
}
