import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieConfiguration

@Suite("Requests of a session at the same time", .timeLimit(.minutes(2)))
struct SessionRequestTests {
    @Test("A session has forty at once, and the user's other sessions are served")
    func perSession() async throws {
        try await TestService.run(adjust: { $0.waitsPatiently() }) { service in
            let (token, other) = (try await service.makeToken(), try await service.newToken())
            try await service.addRows(1)
            let list = try await service.list(token: token)
            let photo = try #require(list.jsonArray?.first?["random_id"] as? String)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { calls in
                try await service.postgres.withTransaction { connection in
                    try await connection.query("SELECT FROM photo_libraries FOR UPDATE")
                    for _ in 0..<44 { calls.addTask { try await service.delete(photo, token: token).status } }
                    for _ in 0..<4 {
                        let status = try #require(try await calls.next())
                        #expect(status == 429)
                    }
                    let sessions = try await service.send(
                        "GET",
                        "/api/sessions",
                        headers: [("Authorization", tokenHeader(token))]
                    )
                    #expect(sessions.status == 429 && sessions.headers["retry-after"] == "2")
                    #expect(try await service.list(token: token).status == 429)
                    let others = try await service.send(
                        "GET",
                        "/api/sessions",
                        headers: [("Authorization", tokenHeader(other))]
                    )
                    #expect(others.status == 200)
                }
                return try await calls.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 1, 401: 39])
            #expect(try await service.list(token: token).status == 200)
        }
    }

    @Test("A user has 32 lists being made")
    func lists() async throws {
        try await TestService.run(adjust: { $0.waitsPatiently() }) { service in
            // Each session has fewer than a session may have.
            let tokens = [try await service.makeToken(), try await service.newToken()]
            try await service.addRows(1)
            try await service.postgres.withConnection { connection in
                try await connection.execute(
                    script: """
                        ALTER TABLE photos RENAME TO quick;
                        CREATE VIEW photos AS SELECT quick.* FROM quick, LATERAL (SELECT pg_sleep(0.2)) AS pause;
                        """
                )
            }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { calls in
                for number in 0..<64 {
                    let headers = [("Authorization", tokenHeader(tokens[number % 2]))]
                    calls.addTask {
                        try await service.send("GET", "/api/get_photos?order=newest", headers: headers).status
                    }
                }
                return try await calls.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            // A look-up that stood behind a list may have come when a permit was free again.
            #expect(statuses.keys.allSatisfy { [200, 429].contains($0) } && statuses[429] != nil, "\(statuses)")
            #expect(try await service.list(token: tokens[0]).status == 200)
        }
    }
}
