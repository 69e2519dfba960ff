import DatabaseTestSupport
import Postgres
import ServerProcesses
import ServiceTestSupport

@testable import SelfieApp

extension TestService {
    /// Runs a body with a service that reads from a standby, whose replay a test may stop.
    ///
    /// - Parameters:
    ///   - heartbeatInterval: How often the service writes the time.
    ///   - adjust: Changes the service before it starts.
    ///   - body: Uses the service, whose database has the documentation's schema.
    /// - Throws: What the body throws, or what keeps a server or the service from starting.
    static func runWithStandby(
        heartbeatInterval: Duration = .milliseconds(100),
        adjust: @Sendable (inout SelfieService) -> Void = { _ in },
        _ body: @Sendable (TestService, Standby, OwnCluster) async throws -> Void
    ) async throws {
        try await OwnCluster.use { cluster in
            try await cluster.withStandby { standby in
                try await TestService.run(
                    databaseURL: cluster.url,
                    settings: ["RATE_LIMITS": "off", "DATABASE_URL_READ": standby.url],
                    adjust: { service in
                        service.heartbeatInterval = heartbeatInterval
                        adjust(&service)
                    },
                    { service in
                        try await service.apply(try TestService.exampleSchema)
                        try await standby.catchUp(with: cluster)
                        try await body(service, standby, cluster)
                    }
                )
            }
        }
    }
}

extension Standby {
    /// Waits until it has a heartbeat, and then all that the primary has.
    ///
    /// - Parameter primary: The primary.
    /// - Throws: `NotInTime`, `PostgresError`.
    func catchUpWithHeartbeat(of primary: OwnCluster) async throws {
        try await poll("a heartbeat") {
            try await TestCluster.withClient(url) { postgres in
                try await !postgres.read("SELECT FROM replication_heartbeat").isEmpty
            }
        }
        try await catchUp(with: primary)
    }
}
