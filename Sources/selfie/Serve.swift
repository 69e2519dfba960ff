import ArgumentParser
import Logging
import Migrations
import SelfieApp
import SelfieConfiguration
import ServiceLifecycle

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Run the HTTP service.")

    @Option(help: "The address to listen on.")
    var hostname = "0.0.0.0"

    @Option(help: "The port to listen on; 0 for any free port. (default: $PORT, then 3000)")
    var port: Int?

    @OptionGroup var migrations: MigrationOptions

    func validate() throws {
        try validatePort(port)
    }

    func run() async throws {
        let source = try ConfigurationSource()
        let configuration = try ServiceConfiguration(from: source)
        let logger = makeLogger(level: configuration.logLevel, format: configuration.logFormat)
        for warning in source.warnings { logger.warning("\(warning)") }
        let migrations = try migrations.directory.load()
        let check = SchemaCheck(postgres: configuration.postgres, migrations: migrations)
        // If it can't, the service logs the reason.
        let isReached = try await check()
        var service = SelfieService(
            configuration: configuration,
            hostname: hostname,
            port: port ?? configuration.port,
            logger: logger
        )
        service.schemaVersions = Set(migrations.map(\.version))
        try await ServiceGroup.runUntilSignal(isReached ? [service] : [service, check], logger: logger)
    }
}

/// Refuses a number that is not a TCP port.
func validatePort(_ port: Int?) throws {
    if let port, !(0...65535).contains(port) {
        throw ValidationError("--port must be a whole number from 0 to 65535.")
    }
}
