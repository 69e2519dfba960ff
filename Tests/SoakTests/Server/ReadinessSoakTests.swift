import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

/// In real time, and beside requests: a probe every 100 ms sees each end within two seconds, and each return within five.
@Suite("Readiness in real time", .timeLimit(.minutes(3)))
struct ReadinessSoakTests {
    private static func expectOutage(
        _ what: String,
        _ service: TestService,
        begin: () async throws -> Void,
        end: () async throws -> Void
    ) async throws {
        try await wait(for: 200, service)
        try await begin()
        let ending = ContinuousClock.now
        try await wait(for: 503, service)
        let downAfter = ContinuousClock.now - ending
        try await end()
        let returning = ContinuousClock.now
        try await wait(for: 200, service)
        let upAfter = ContinuousClock.now - returning
        print("\(what): 503 after \(downAfter), 200 after \(upAfter)")
        #expect(downAfter < .seconds(2), "\(what)")
        #expect(upAfter < .seconds(5), "\(what)")
    }

    private static func wait(for status: Int, _ service: TestService) async throws {
        while try await service.send("GET", "/readyz").status != status {
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Lists photos all the time, as twenty clients do.
    private static func besideLists(_ service: TestService, _ body: () async throws -> Void) async throws {
        let token = try await service.makeToken()
        _ = try await service.upload(token: token)
        let clients = (0..<20).map { _ in
            Task {
                while !Task.isCancelled {
                    if try await service.list(token: token).status != 200 {
                        try await Task.sleep(for: .milliseconds(50))
                    }
                }
            }
        }
        defer { for client in clients { client.cancel() } }
        try await body()
    }

    @Test("A database, and a store, that end, and that hang")
    func outages() async throws {
        try await OwnCluster.use { cluster in
            try await TestService.run(databaseURL: cluster.url, store: .ownS3) { service in
                guard case .s3(let server, _) = service.objects else { throw NotInTime(what: "a bucket") }
                try await Self.besideLists(service) {
                    for round in 1...3 {
                        try await Self.expectOutage(
                            "\(round): the database ends",
                            service,
                            begin: { try await cluster.kill() },
                            end: { try await cluster.start() }
                        )
                        try await Self.expectOutage(
                            "\(round): the database hangs",
                            service,
                            begin: { try await cluster.suspend() },
                            end: { cluster.resume() }
                        )
                        try await Self.expectOutage(
                            "\(round): the store hangs",
                            service,
                            begin: { try await server.suspend() },
                            end: { server.resume() }
                        )
                    }
                    try await Self.expectOutage(
                        "the store ends",
                        service,
                        begin: { server.kill() },
                        end: { try await server.restart() }
                    )
                }
            }
        }
    }
}
