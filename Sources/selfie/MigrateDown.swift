import ArgumentParser
import Encodings
import Migrations
import SelfieOperations

struct MigrateDown: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "down",
        abstract: "Take back the last migrations.",
        discussion: """
            Lists the migrations, and asks first: their down scripts may delete data. Back up the database before. The \
            tables users and photos stay as railsauth made them, unless --including-railsauth is given.
            """
    )

    @Argument(help: "How many migrations to take back. (default: 1)")
    var count: Int?

    @Option(name: .customLong("to"), help: "Take back all migrations after this version.")
    var version: String?

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @Flag(help: "Also take back the three migrations of railsauth, with all users and photos.")
    var includingRailsauth = false

    @OptionGroup var options: MigrationOptions

    /// The versions of railsauth's own migrations.
    private static let railsauthVersions: Set<String> = ["20140826080603", "20140828132607", "20140828141051"]

    func validate() throws {
        guard count ?? 1 > 0 else { throw ValidationError("The number of migrations must be 1 or more.") }
        guard count == nil || version == nil else { throw ValidationError("Give a number or --to, not both.") }
        try Confirmation.validate(yes: yes)
    }

    func run() async throws {
        let steps = try await options.migrator().down(
            version.map { .after(version: $0) } ?? .last(count ?? 1),
            protecting: includingRailsauth ? [] : Self.railsauthVersions
        ) { steps in
            StandardError.write(
                """
                These migrations will be taken back. Their down scripts may delete data.
                \(steps.map { "  \($0.fileName)\n" }.joined())
                """
            )
            return yes || Confirmation.ask("Take back \(counted(steps.count, "migration"))?")
        }
        guard let steps else {
            StandardError.write("Nothing was changed.\n")
            throw ExitCode.failure
        }
        for migration in steps { print("Took back \(migration.fileName)") }
        if steps.isEmpty { print("No migration is applied\(version.map { " after \($0)" } ?? "").") }
    }
}
