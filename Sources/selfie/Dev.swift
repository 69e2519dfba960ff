import ArgumentParser
import Logging
import SelfieApp
import SelfieConfiguration
import ServiceLifecycle
import UnixSignals

struct Dev: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service with its own PostgreSQL and photos on disk, in .selfie.",
        discussion: "Writes a .env with generated secrets if there is none. Ctrl-C stops everything; the data stays."
    )

    @Option(help: "The address to listen on.")
    var hostname = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for any free port. (default: $PORT, then 3000)")
    var port: Int?

    func validate() throws {
        try validatePort(port)
    }

    func run() async throws {
        let format = try ConfigurationSource().read { $0.logFormat() }
        let logger = makeLogger(level: .warning, format: format)
        try await ServiceGroup.runUntilSignal(
            [DevelopmentServer(hostname: hostname, port: port, logger: logger)],
            // SIGHUP: closing the terminal stops the database, too.
            signals: [.sigterm, .sigint, .sighup],
            logger: logger
        )
    }
}
