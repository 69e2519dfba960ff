import ArgumentParser
import Logging
import SelfieApp
import SelfieConfiguration
import ServiceLifecycle

/// The service in this program, with or without notifications.
struct PlainService: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Serve with or without notifications, for comparison; `run` starts it.",
        shouldDisplay: false
    )

    @Flag(help: "Notify no process of changes.")
    var silent = false

    func run() async throws {
        var logger = Logger(label: "service")
        logger.logLevel = .error
        var service = SelfieService(
            configuration: try ServiceConfiguration(from: try ConfigurationSource()),
            hostname: "127.0.0.1",
            port: 0,
            logger: logger,
            onRunning: { say("listening on 127.0.0.1:\($0)") }
        )
        service.sendsNotifications = !silent
        try await ServiceGroup.runUntilSignal([service], logger: logger)
    }

    /// Starts this service as a process of its own, runs `body` and ends it.
    static func with<Result: Sendable>(
        databaseURL: String,
        store: [String: String],
        sendsNotifications: Bool,
        _ body: (RunningServer) async throws -> Result
    ) async throws -> Result {
        try await RunningServer.with(
            "bench",
            ["service"] + (sendsNotifications ? [] : ["--silent"]),
            environment: Service.settings(databaseURL: databaseURL).merging(store) { $1 },
            body
        )
    }
}
