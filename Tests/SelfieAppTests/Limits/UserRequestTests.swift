import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp
@testable import SelfieConfiguration

@Suite("Requests of a user at the same time", .timeLimit(.minutes(2)))
struct UserRequestTests {
    @Test("A user has 64 under way, and others go on")
    func perUser() async throws {
        try await TestService.run(adjust: { service in
            service.waitsPatiently()
            service.configuration.postgres.pool.maxConnections = 10
        }) { service in
            for name in ["ada", "bob"] {
                try await service.addSession(name: name)
                try await service.addRows(1, name: name)
            }
            let list = try await service.list(token: "ada-token")
            let photo = try #require(list.jsonArray?.first?["random_id"] as? String)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { calls in
                try await service.postgres.withTransaction { connection in
                    try await connection.query("SELECT FROM photo_libraries FOR UPDATE")
                    for _ in 0..<80 { calls.addTask { try await service.delete(photo, token: "ada-token").status } }
                    // A list that was not sent before counts, too.
                    let headers = [("Authorization", tokenHeader("ada-token"))]
                    try await poll("all are under way") {
                        try await service.send("GET", "/api/get_photos?order=newest", headers: headers).status == 429
                    }
                    #expect(try await service.delete(photo, token: "ada-token").status == 429)
                    #expect(try await service.list(token: "bob-token").status == 200)
                }
                return try await calls.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            // A list that asked meanwhile may have had one of the places.
            #expect(statuses[200] == 1 && (62...63).contains(statuses[401] ?? 0), "\(statuses)")
            #expect(statuses[429] == 79 - (statuses[401] ?? 0), "\(statuses)")
            #expect(try await service.list(token: "ada-token").status == 200)
        }
    }
}
