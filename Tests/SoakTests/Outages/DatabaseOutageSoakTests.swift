import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

/// With the time limits that are in use.
@Suite("The database is unreachable, in real time", .timeLimit(.minutes(4)), .serialized)
struct DatabaseOutageSoakTests {
    /// Expects all calls to be refused in time, and to leave nothing behind.
    private func expectRefusals(_ service: TestService, _ client: OutageCalls) async throws {
        try await client.expectRefusals(within: maxOutageAnswer)
        #expect(service.objects.keys() == [client.randomID])
    }

    private func run(
        _ store: TestStore,
        _ body: @Sendable (OwnCluster, TestService, OutageCalls) async throws -> Void
    ) async throws {
        try await OwnCluster.use { cluster in
            try await TestService.run(databaseURL: cluster.url, store: store, settings: ["RATE_LIMITS": "on"]) {
                service in
                try await body(cluster, service, OutageCalls(service))
            }
        }
    }

    @Test(
        "Killed, every call is refused in JSON within 5 s, and works within 5 s of its return",
        arguments: TestStore.allCases
    )
    func killed(store: TestStore) async throws {
        try await run(store) { cluster, service, client in
            try await cluster.kill()
            try await expectRefusals(service, client)
            try await cluster.start()
            try await poll("the service works again by itself", within: .seconds(5)) {
                try await service.list(token: client.token).status == 200
            }
            for call in try client.all() {
                let answer = try await call.send()
                let expected = call.name == "photo" && store == .s3 ? 302 : 200
                #expect(answer.status == expected, "\(call.name): \(answer.text)")
            }
        }
    }

    @Test("Halted, every call is refused in JSON within 5 s, and answered within 5 s of its return")
    func halted() async throws {
        try await run(.disk) { cluster, service, client in
            try await cluster.suspend()
            // The second round finds no connection left in the pool.
            for _ in 0..<2 { try await expectRefusals(service, client) }
            cluster.resume()
            // What the server had been sent before it halted may run now; only what was never sent may not.
            try await poll("the service works again by itself", within: .seconds(5)) {
                try await service.list(token: client.token).status != 503
            }
        }
    }
}
