import EmbeddedPostgres
import FoundationEssentials
import Glibc
import Logging
import Migrations
import Postgres
import RecordSchema
import SelfieApp
import SelfieConfiguration
import SelfieOperations
import SelfieRecords
import ServiceLifecycle

/// The whole service on one machine from one command: a PostgreSQL cluster of its own, photos on disk.
///
/// Its data lies in `.selfie` in the current folder, and the secrets in the file `.env` beside it.
struct DevelopmentServer: Service {
    /// The address to listen on.
    let hostname: String
    /// The port to listen on; nil for the configuration's.
    let port: Int?
    let logger: Logger

    private static let stateDirectory = DevelopmentData.folder
    private static let environmentFile = ".env"
    private static let schemaFile = "schema.json"

    /// Starts everything, serves until a graceful shutdown, and stops everything that it started.
    ///
    /// - Throws: `EmbeddedPostgresError`, `ConfigurationError`, `MigrationError`, `ServiceStartError`.
    func run() async throws {
        try await withGracefulShutdownHandler {
            try await serveAndStop()
        } onGracefulShutdown: {
            // Running requests and the database may take a moment.
            say("Stopping …")
        }
    }

    private func serveAndStop() async throws {
        // First of all: it fails in any folder but the project's.
        let migrations = try MigrationDirectory(path: "migrations").load()
        if try EnvironmentFile(path: Self.environmentFile).createIfMissing() {
            say("Wrote \(Self.environmentFile) with generated secrets.")
        }
        let postgres = EmbeddedPostgres(
            directory: "\(Self.stateDirectory)/postgres",
            name: "selfie",
            notice: { say($0) }
        )
        say("Starting PostgreSQL in \(Self.stateDirectory)/postgres …")
        let databaseURL = try await postgres.start()
        do {
            try await serve(databaseURL: databaseURL, migrations: migrations)
        } catch {
            try? await postgres.stop()
            throw error
        }
        try await postgres.stop()
        say("Stopped. Your data stays in \(Self.stateDirectory).")
    }

    private func serve(databaseURL: String, migrations: [Migration]) async throws {
        let settings = ["DATABASE_URL": databaseURL, "OBJECTS_PATH": "\(Self.stateDirectory)/objects"]
        let data = DevelopmentDataFile(settings)
        try data.write()
        defer { data.remove() }
        let chosen = try ConfigurationSource(environmentFile: Self.environmentFile)
        let gallery = ["GALLERY": chosen.value(of: "GALLERY") ?? "true"]
        let source = try ConfigurationSource(
            environmentFile: Self.environmentFile,
            overrides: settings.merging(gallery) { $1 }
        )
        let configuration = try ServiceConfiguration(from: source, outbox: DevelopmentData.outbox)
        let migrator = Migrator(
            configuration: configuration.postgres,
            migrations: migrations,
            lock: MigrationLock.number
        )
        for migration in try await migrator.up() { say("Applied \(migration.fileName)") }
        try await applySchema(configuration.postgres)
        for warning in source.warnings { logger.warning("\(warning)") }
        // A signal may have come while the database was starting.
        guard !Task.isShuttingDownGracefully else { return }
        var logger = logger
        logger.logLevel = configuration.logLevel
        var service = SelfieService(
            configuration: configuration,
            hostname: hostname,
            port: port ?? configuration.port,
            logger: logger,
            onRunning: { announce(port: $0, databaseURL: databaseURL) }
        )
        service.schemaVersions = Set(migrations.map(\.version))
        service.announceDelivery = { say($0) }
        try await service.run()
    }

    /// Applies the schema that lies in the folder.
    private func applySchema(_ configuration: PostgresConfiguration) async throws {
        guard FileManager.default.fileExists(atPath: Self.schemaFile) else { return }
        let schema = try SchemaFile.read(Self.schemaFile)
        try await PostgresClient.withClient(configuration: configuration) { postgres in
            let apply = ApplySchema(postgres: postgres)
            let preview = try await apply.preview(schema)
            if preview.plan.changes.isEmpty { return }
            guard preview.plan.refusals.isEmpty else {
                throw SchemaNotApplied(plan: preview.text, file: Self.schemaFile)
            }
            guard !preview.needsConfirmation,
                let report = try await apply(schema, as: preview.plan, mayShowMore: false)
            else {
                return say(
                    """
                    \(Self.schemaFile) is not applied, and the service keeps the previous schema:
                    \(preview.text)To apply it anyway, run: selfie schema apply --force \(Self.schemaFile)
                    """
                )
            }
            say("Applied \(Self.schemaFile):\n\(preview.text)\(report.misfitText)")
        }
    }

    private func announce(port: Int, databaseURL: String) {
        let origin = "http://\(hostname == "0.0.0.0" ? "localhost" : hostname):\(port)"
        say(
            """

            Selfie is at \(origin). Stop it with Ctrl-C.
            Its database: psql '\(databaseURL)'

            A first photo: open another terminal in this folder and paste

            \(CurlExamples(origin: origin, program: Self.program).text)

            """
        )
    }

    /// This program's path, relative to the current folder if it lies there.
    private static var program: String {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "selfie"
        let folder = FileManager.default.currentDirectoryPath + "/"
        return path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path
    }
}

/// Prints a line at once, also when standard output is a pipe.
private func say(_ text: String) {
    print(text)
    fflush(nil)
}

/// The schema in the folder can't be applied.
private struct SchemaNotApplied: Error, CustomStringConvertible {
    /// The changes that it would make.
    let plan: String
    let file: String

    var description: String { "\(file) can't be applied:\n\(plan)" }
}
