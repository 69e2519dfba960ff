import DatabaseTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

/// With time limits that are over at once; that they keep to 5 s as they are in use, the tests that need time tell.
@Suite("The database goes away", .timeLimit(.minutes(4)))
struct DatabaseOutageTests {
    private static let settings = ["RATE_LIMITS": "on"]

    private static func makePatient(_ service: inout PhotoService) {
        service.configuration.postgres.pool.leaseTimeout = .seconds(60)
        service.configuration.postgres.statementTimeout = .seconds(60)
        service.sweepInterval = .seconds(3600)
    }

    private static func makeImpatient(_ service: inout PhotoService) {
        service.configuration.postgres.pool.leaseTimeout = .milliseconds(200)
        service.configuration.postgres.statementTimeout = .milliseconds(500)
        service.sweepInterval = .seconds(3600)
    }

    @Test("Restarted between two requests, nobody notices")
    func restarted() async throws {
        try await OwnCluster.use { cluster in
            try await TestService.run(
                databaseURL: cluster.url,
                settings: Self.settings,
                adjust: Self.makePatient
            ) { service in
                let client = try await OutageCalls(service)
                try await cluster.kill()
                try await cluster.start()
                for call in try client.all() {
                    let answer = try await call.send()
                    #expect(answer.status == 200, "\(call.name): \(answer.text)")
                }
            }
        }
    }

    /// Runs a body with a service that gives up at once, and a client whose account another process has made.
    private func withImpatientService(
        _ body: @Sendable (OwnCluster, TestService, OutageCalls, _ patient: OutageCalls) async throws -> Void
    ) async throws {
        try await OwnCluster.use { cluster in
            try await TestService.run(
                databaseURL: cluster.url,
                settings: Self.settings,
                adjust: Self.makePatient
            ) { other in
                let client = try await OutageCalls(other)
                try await TestService.run(
                    databaseURL: cluster.url,
                    settings: Self.settings.merging(other.objects.settings) { $1 },
                    adjust: Self.makeImpatient
                ) { service in
                    try await body(cluster, service, OutageCalls(client, at: service), client)
                }
                // What was refused left nothing behind.
                #expect(other.objects.keys().count <= 2)
            }
        }
    }

    @Test("Killed, every call is refused in JSON, and works again by itself")
    func killed() async throws {
        try await withImpatientService { cluster, service, client, patient in
            try await cluster.kill()
            try await client.expectRefusals()
            try await cluster.start()
            #expect(try await service.postgres.query("SELECT FROM photos").count == 1)
            try await poll("the service works again by itself") {
                try await service.list(token: client.token).status == 200
            }
            // Each once: what was done and yet refused, since it took too long, can't be done again.
            for call in try patient.all() {
                let answer = try await call.send()
                #expect(answer.status == 200, "\(call.name): \(answer.text)")
            }
        }
    }

    @Test("Halted, every call is refused in JSON, and answered again by itself")
    func halted() async throws {
        try await withImpatientService { cluster, service, client, _ in
            try await cluster.suspend()
            // The second round finds no connection left in the pool.
            for _ in 0..<2 { try await client.expectRefusals() }
            cluster.resume()
            // What the server had been sent before it halted may run now; only what was never sent may not.
            try await poll("the service works again by itself") {
                try await service.list(token: client.token).status != 503
            }
        }
    }
}
