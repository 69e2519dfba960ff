import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp

/// A process of the service that counts what a standby has answered.
struct StandbyService: Sendable {
    let service: TestService
    private let metricsPort: Int

    /// Runs a body with a process.
    ///
    /// - Parameters:
    ///   - primary: The database.
    ///   - standby: What it reads from; nil for the primary.
    ///   - body: Uses the process.
    /// - Throws: What the body throws, or what keeps the process from starting.
    static func run(
        _ primary: OwnCluster,
        _ standby: Standby?,
        _ body: @Sendable (StandbyService) async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        var settings = ["METRICS_PORT": "0"]
        settings["DATABASE_URL_READ"] = standby?.url
        // With the time limits of a real one: a standby that hangs is waited for as long as users would wait.
        try await TestService.run(
            databaseURL: primary.url,
            settings: settings,
            isPatient: false,
            adjust: { $0.onMetricsRunning = { continuation.yield($0) } },
            { service in
                let port = try #require(await ports.first { _ in true })
                try await body(StandbyService(service: service, metricsPort: port))
            }
        )
    }

    /// How many statements the standby was to answer, by what came of them.
    func standbyReads() async throws -> [String: Int] {
        let text = try await service.send("GET", "http://127.0.0.1:\(metricsPort)/metrics").text
        let pattern = /postgres_standby_reads_total\{result="(\w+)"\} (\d+)/
        return Dictionary(uniqueKeysWithValues: text.matches(of: pattern).map { (String($0.1), Int($0.2) ?? 0) })
    }

    /// Waits until the standby answers statements of this process again.
    func waitUntilStandbyAnswers() async throws {
        let before = try await standbyReads()["answered"] ?? 0
        try await poll("the standby answers") { try await standbyReads()["answered"] ?? 0 > before }
    }
}
