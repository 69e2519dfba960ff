import Budgets
import ConnectionTestSupport
import Foundation
import Postgres
import SelfieConfiguration
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Too many connections", .timeLimit(.minutes(1)))
struct ConnectionLimitTests {
    @Test(
        "One connection too many is closed at once and counted, and the others stay open",
        arguments: ["CONNECTIONS_MAX", "CONNECTIONS_PER_ADDRESS_MAX"]
    )
    func closed(key: String) async throws {
        let settings = ["CONNECTIONS_MAX": "1000", "CONNECTIONS_PER_ADDRESS_MAX": "1000"].merging([key: "40"]) { $1 }
        try await TestService.run(settings: settings, adjust: { $0.reportInterval = .milliseconds(50) }) { service in
            try await Self.withConnections(40, service) {
                try await RawConnection.open(port: service.port) { connection in
                    var connection = connection
                    let answer = try await connection.readToEnd()
                    #expect(answer.isEmpty)
                }
                try await poll("it is logged") {
                    service.log.entries.contains {
                        $0.contains("too many") && $0.contains("closed=1") && $0.contains("open=40")
                    }
                }
            }
            try await poll("there is room again") { try SocketTable.openCount(at: service.port) == 0 }
            #expect(try await service.send("GET", "/").status == 200)
        }
    }

    /// Runs a body with so many connections, each of which was answered once.
    private static func withConnections(
        _ count: Int,
        _ service: TestService,
        _ body: @Sendable () async throws -> Void
    ) async throws {
        guard count > 0 else { return try await body() }
        try await RawConnection.open(port: service.port) { connection in
            try await connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            var connection = connection
            let answer = try await connection.readResponse()
            #expect(answer?.status == 200)
            try await withConnections(count - 1, service, body)
        }
    }

    private func budget(files: Int, _ settings: [String: String] = [:]) throws -> ConnectionBudget {
        var needed = [
            "DATABASE_URL": "postgresql://localhost/a", "API_AUTH_NAME": "a", "API_AUTH_PASSWORD": "b",
            "SECRET_KEY_BASE": String(repeating: "s", count: 64),
        ]
        if settings["S3_BUCKET_NAME"] == nil { needed["OBJECTS_PATH"] = "/tmp" }
        let source = ConfigurationSource(values: needed.merging(settings) { $1 })
        return ConnectionBudget(openFileLimit: files, configuration: try ServiceConfiguration(from: source))
    }

    @Test("Descriptors for the database, the bucket, uploads and files are reserved")
    func reserve() throws {
        // Ten for the database, 200 for uploads, a quarter for downloads, and 256 for the rest.
        #expect(try budget(files: 1_000).total == 1_000 - 466 - 250)
        #expect(try budget(files: 1_000).perAddress == 142)
        let (most, more) = (try budget(files: 1_048_576), try budget(files: 30_000))
        #expect(most.total == more.total)
        #expect(try budget(files: 1_048_576).total == 20_000)
        #expect(try budget(files: 64).total == 32)
        #expect(try budget(files: 1_000, ["DATABASE_POOL_SIZE": "100"]).total == 1_000 - 556 - 250)
        // Ten more for a standby.
        let standby = ["DATABASE_URL_READ": "postgresql://localhost/b"]
        #expect(try budget(files: 1_000, standby).total == 1_000 - 476 - 250)
        #expect(
            try budget(files: 1_000, ["CONNECTIONS_MAX": "100", "CONNECTIONS_PER_ADDRESS_MAX": "7"]).perAddress == 7
        )
        #expect(try budget(files: 1_000, ["CONNECTIONS_MAX": "100"]).total == 100)
        #expect(try budget(files: 1_000, ["CONNECTIONS_MAX": "100000"]).total == 284)
        // All clients of a proxy have one address.
        #expect(
            try budget(files: 1_000, ["TRUSTED_PROXIES": "1", "CONNECTIONS_PER_ADDRESS_MAX": "7"]).perAddress == 284
        )
        #expect(try budget(files: 1_000, ["DYNO": "web.1"]).perAddress == 284)
    }

    @Test("Downloads have a quarter of the descriptors at most, and hardly any where clients go to the bucket")
    func downloads() throws {
        func downloads(_ files: Int, _ settings: [String: String] = [:]) throws -> [Int] {
            let limits = try budget(files: files, settings).downloads
            return [limits.total, limits.perHolder]
        }
        #expect(try downloads(1_048_576) == [4_000, 1_000])
        #expect(try downloads(1_000) == [250, 62])
        #expect(try downloads(1_000, ["DOWNLOADS_AT_ONCE_MAX": "8"]) == [8, 2])
        #expect(try downloads(1_000, ["DOWNLOADS_AT_ONCE_PER_ADDRESS_MAX": "9"]) == [250, 9])
        let bucket = [
            "OBJECTS_PATH": "", "S3_BUCKET_NAME": "photos", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
        ]
        #expect(
            try downloads(1_000, ["DOWNLOADS_AT_ONCE_MAX": "9", "DOWNLOADS_AT_ONCE_PER_ADDRESS_MAX": "9"]) == [9, 9]
        )
        #expect(try downloads(1_048_576, bucket) == [32, 8])
        #expect(try downloads(1_048_576, bucket.merging(["PHOTO_DELIVERY": "proxy"]) { $1 }) == [400, 100])
        let most = ["PHOTO_DELIVERY": "proxy", "DOWNLOADS_AT_ONCE_MAX": "2000"]
        #expect(try downloads(1_048_576, bucket.merging(most) { $1 }) == [700, 175])
    }

    @Test("A /48 network has more than a /64 network, and leaves a quarter to others")
    func site() throws {
        #expect(try budget(files: 1_000).perSite == 284 * 3 / 4)
        let small = ["CONNECTIONS_MAX": "100", "CONNECTIONS_PER_ADDRESS_MAX": "7"]
        #expect(try budget(files: 1_000, small).perSite == 56)
        let large = ["CONNECTIONS_MAX": "100", "CONNECTIONS_PER_ADDRESS_MAX": "90"]
        #expect(try budget(files: 1_000, large).perSite == 90)
        #expect(try budget(files: 1_000, ["DYNO": "web.1"]).perSite == 284)
    }
}
