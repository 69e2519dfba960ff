import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Health", .timeLimit(.minutes(3)))
struct HealthTests {
    private static let ready =
        #"[{"check":"database","ready":true},{"check":"migrations","ready":true},{"check":"store","ready":true}]"#

    @Test("A service that is well says so, quietly", arguments: TestStore.allCases)
    func well(store: TestStore) async throws {
        try await TestService.run(store: store) { service in
            #expect(try await service.send("GET", "/livez").text == #"{"status":200,"message":"The process is alive"}"#)
            let ready = try await service.send("GET", "/readyz")
            #expect(ready.status == 200)
            #expect(ready.text == Self.ready)
            #expect(ready.headers["cache-control"] == "no-store")
            #expect(try await service.send("HEAD", "/readyz").status == 200)
            #expect(!service.log.text.contains("endpoint=/"), "probes come every second")
        }
    }

    @Test("An outage of the database shows, and so does its end; each is logged once")
    func database() async throws {
        try await OwnCluster.use { cluster in
            try await TestService.run(databaseURL: cluster.url) { service in
                try await Self.expectOutage(
                    of: ["database", "migrations"],
                    service,
                    begin: { try await cluster.kill() },
                    end: { try await cluster.start() }
                )
                let log = service.log.entries
                #expect(
                    log.count { $0.hasPrefix("warning not ready") && $0.contains("database") } == 1
                )
                #expect(log.count { $0.hasPrefix("notice ready again") && $0.contains("database") } == 1)
                let reasons = log.filter {
                    $0.hasPrefix("error no connection to the database") && $0.contains("reason=")
                }
                // While it starts, it says so.
                #expect(!reasons.isEmpty && zip(reasons, reasons.dropFirst()).allSatisfy { $0 != $1 })
                // One event loop's attempt may have failed after another's had succeeded.
                let returns = log.count { $0.hasPrefix("notice connections to the database can be opened again") }
                #expect((1...reasons.count).contains(returns))
            }
        }
    }

    @Test("So do those of a database and of a store that hang")
    func hanging() async throws {
        try await OwnCluster.use { cluster in
            try await TestService.run(databaseURL: cluster.url, store: .ownS3) { service in
                guard case .s3(let server, _) = service.objects else { throw NotInTime(what: "a bucket") }
                try await service.objects.makeBucket()
                try await Self.expectOutage(
                    of: ["store"],
                    service,
                    begin: { try await server.suspend() },
                    end: { server.resume() }
                )
                try await Self.expectOutage(
                    of: ["database", "migrations"],
                    service,
                    begin: { try await cluster.suspend() },
                    end: { cluster.resume() }
                )
            }
        }
    }

    @Test("A missing folder and missing migrations show; a bucket that does not exist yet does not")
    func others() async throws {
        try await TestService.run(adjust: { $0.schemaVersions = ["20991231235959"] }) { service in
            let lacking = try await service.send("GET", "/readyz")
            #expect(lacking.status == 503)
            #expect(
                lacking.text == Self.ready.replacing(#"migrations","ready":true"#, with: #"migrations","ready":false"#)
            )
            #expect(service.log.text.contains("the database lacks migrations"))
            guard case .disk(let folder) = service.objects else { throw NotInTime(what: "a disk") }
            try FileManager.default.removeItem(at: folder)
            try await poll("the folder is missed") {
                try await service.send("GET", "/readyz").text.contains(#"{"check":"store","ready":false}"#)
            }
        }
        try await TestService.run(store: .ownS3) { service in
            let ready = try await service.send("GET", "/readyz")
            #expect(ready.text == Self.ready)
        }
    }

    /// Sees an outage begin and end, from outside.
    private static func expectOutage(
        of checks: [String],
        _ service: TestService,
        begin: () async throws -> Void,
        end: () async throws -> Void
    ) async throws {
        try await poll("it is ready") { try await service.send("GET", "/readyz").status == 200 }
        try await begin()
        let text = checks.reduce(ready) { text, check in
            text.replacing("\(check)\",\"ready\":true", with: "\(check)\",\"ready\":false")
        }
        try await poll("it is not ready") { try await service.send("GET", "/readyz").status == 503 }
        #expect(try await service.send("GET", "/readyz").text == text)
        #expect(try await service.send("GET", "/livez").status == 200)
        try await end()
        try await poll("it is ready again") { try await service.send("GET", "/readyz").status == 200 }
    }
}
