import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import NIOCore
import NIOEmbedded
import Postgres
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

/// With a time of connections that the tests move.
///
/// `SoakTests` check that each call is answered within 5 s.
@Suite("The database is unreachable", .timeLimit(.minutes(4)))
struct DatabaseOutageTests {
    private static let settings = ["RATE_LIMITS": "on"]

    private static func makePatient(_ service: inout SelfieService) {
        service.configuration.postgres.pool.leaseTimeout = .seconds(60)
        service.configuration.postgres.statementTimeout = .seconds(60)
        service.sweepInterval = .seconds(3600)
    }

    @Test("A restart between two requests causes no error")
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

    /// A service whose database has a time of the test's, and a client whose account another process has made.
    private struct Scene {
        let cluster: OwnCluster
        let service: TestService
        let client: OutageCalls
        /// The same client at a process that waits for as long as it takes.
        let patient: OutageCalls
        let eventLoop: NIOAsyncTestingEventLoop

        /// Runs a body while the time of the service's connections passes.
        func whilePassing(
            step: TimeAmount = .milliseconds(250),
            _ body: @escaping @Sendable () async throws -> Void
        ) async throws {
            try await TestSupport.whilePassing({ await eventLoop.advanceTime(by: step) }, body)
        }

        func awaitRecovery(_ isRecovered: @escaping @Sendable (HTTPAnswer) -> Bool) async throws {
            // Slowly: a connection is made anew after a pause, and then a busy machine gets the time for an answer.
            try await whilePassing(step: .milliseconds(10)) {
                try await poll("the service works again by itself") {
                    isRecovered(try await service.list(token: client.token))
                }
            }
        }
    }

    private func withScene(_ body: @Sendable (Scene) async throws -> Void) async throws {
        let eventLoop = NIOAsyncTestingEventLoop()
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
                    adjust: {
                        $0.configuration.postgres.eventLoopGroup = eventLoop
                        $0.sweepInterval = .seconds(3600)
                    }
                ) { service in
                    let scene = Scene(
                        cluster: cluster,
                        service: service,
                        client: OutageCalls(client, at: service),
                        patient: client,
                        eventLoop: eventLoop
                    )
                    try await body(scene)
                }
                // What was refused left nothing behind.
                #expect(other.objects.keys().count <= 2)
            }
        }
    }

    @Test("Killed, every call is refused in JSON, and works again by itself")
    func killed() async throws {
        try await withScene { scene in
            try await scene.cluster.kill()
            try await scene.whilePassing { try await scene.client.expectRefusals() }
            try await scene.cluster.start()
            #expect(try await scene.service.postgres.read("SELECT FROM photos").count == 1)
            try await scene.awaitRecovery { $0.status == 200 }
            // Each once: what was done and yet refused, since it took too long, can't be done again.
            for call in try scene.patient.all() {
                let answer = try await call.send()
                #expect(answer.status == 200, "\(call.name): \(answer.text)")
            }
        }
    }

    @Test("Halted, every call is refused in JSON, and answered again by itself")
    func halted() async throws {
        try await withScene { scene in
            try await scene.cluster.suspend()
            // The second round finds no connection left in the pool.
            for _ in 0..<2 { try await scene.whilePassing { try await scene.client.expectRefusals() } }
            scene.cluster.resume()
            // What the server had been sent before it halted may run now; only what was never sent may not.
            try await scene.awaitRecovery { $0.status != 503 }
        }
    }
}
