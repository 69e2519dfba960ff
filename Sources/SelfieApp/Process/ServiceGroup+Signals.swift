package import Logging
package import ServiceLifecycle
package import UnixSignals

extension ServiceGroup {
    /// Runs services until one ends, or until a signal asks for a graceful shutdown.
    ///
    /// - Parameters:
    ///   - services: The services. Those that others need come first.
    ///   - signals: The signals.
    ///   - logger: The log.
    /// - Throws: The error of a service.
    package static func runUntilSignal(
        _ services: [any Service],
        signals: [UnixSignal] = [.sigterm, .sigint],
        logger: Logger
    ) async throws {
        try await ServiceGroup(configuration: .untilSignal(services, signals: signals, logger: logger)).run()
    }
}

extension ServiceGroupConfiguration {
    /// How long running requests may take to finish after a signal.
    ///
    /// Platforms kill it after 30 s.
    static let shutdownTimeout: Duration = .seconds(25)

    /// A group that a signal stops.
    ///
    /// It begins nothing more, waits for running work, and then cancels it.
    static func untilSignal(
        _ services: [any Service],
        signals: [UnixSignal] = [.sigterm, .sigint],
        logger: Logger,
        shutdownTimeout: Duration = shutdownTimeout
    ) -> ServiceGroupConfiguration {
        var configuration = ServiceGroupConfiguration(
            services: services.map { service in
                .init(
                    service: service,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .cancelGroup
                )
            },
            gracefulShutdownSignals: signals,
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = shutdownTimeout
        return configuration
    }
}
