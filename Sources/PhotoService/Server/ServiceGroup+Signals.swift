package import Logging
package import ServiceLifecycle
import UnixSignals

extension ServiceGroup {
    /// How long running requests may take to finish once a process is told to stop; platforms kill it after 30 s.
    private static let shutdownTimeout: Duration = .seconds(25)

    /// Runs services until one ends, or until SIGTERM or SIGINT asks for a graceful shutdown.
    ///
    /// - Parameters:
    ///   - services: The services, those that others need first.
    ///   - logger: Where the group reports to.
    /// - Throws: What a service throws.
    package static func runUntilSignal(_ services: [any Service], logger: Logger) async throws {
        var configuration = ServiceGroupConfiguration(
            services: services.map { service in
                .init(
                    service: service,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .cancelGroup
                )
            },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = shutdownTimeout
        try await ServiceGroup(configuration: configuration).run()
    }
}
