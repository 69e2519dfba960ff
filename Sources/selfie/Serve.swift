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
        let logger = makeLogger(level: configuration.logLevel)
        for warning in source.warnings { logger.warning("\(warning)") }
        let check = SchemaCheck(postgres: configuration.postgres, migrations: try migrations.directory.load())
        let isReached = try await check()
        if !isReached {
            logger.warning(
                "the database can't be reached; requests are refused until it can. Run selfie doctor to see why"
            )
        }
        let service = PhotoService(
            configuration: configuration,
            hostname: hostname,
            port: port ?? configuration.port,
            logger: logger
        )
        try await ServiceGroup.runUntilSignal(isReached ? [service] : [service, check], logger: logger)
    }
}

/// Refuses a number that is no TCP port.
func validatePort(_ port: Int?) throws {
    if let port, !(0...65535).contains(port) {
        throw ValidationError("--port must be a whole number from 0 to 65535.")
    }
}

/// A logger that writes lines to standard output, where platforms collect them.
func makeLogger(level: Logger.Level) -> Logger {
    LoggingSystem.bootstrap { _ in LineLogHandler() }
    var logger = Logger(label: "selfie")
    logger.logLevel = level
    return logger
}
