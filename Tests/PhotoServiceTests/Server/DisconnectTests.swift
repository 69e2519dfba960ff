import NIOCore
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

@Suite("Clients that go away", .timeLimit(.minutes(3)))
struct DisconnectTests {
    /// How many lists wait for a lock on the table of photos.
    ///
    /// Asked outside of a transaction, which would see the same activity all the time.
    private func waiting(_ service: TestService) async throws -> Int {
        let rows = try await service.postgres.query(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%AS session_id%'
            """
        )
        return try rows[0].decode("count")
    }

    /// Makes a client ask for its list while the database can't answer, and go away.
    ///
    /// - Returns: Whether the list was cancelled before the database could have answered it.
    /// - Throws: What the connections throw.
    private func leave(_ service: TestService, token: String) async throws -> Bool {
        try await service.postgres.withConnection { connection in
            try await connection.execute(script: "BEGIN; LOCK TABLE photos IN ACCESS EXCLUSIVE MODE")
            let isCancelled = try await RawConnection.open(port: service.port) { client in
                try await client.send(
                    "GET /api/get_photos HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n\r\n"
                )
                try await poll("the list waits in the database") { try await waiting(service) == 1 }
                client.finish()
                do {
                    try await poll("nothing waits any longer", within: .seconds(10)) {
                        try await waiting(service) == 0
                    }
                    return true
                } catch is NotInTime {
                    return false
                }
            }
            try await connection.execute(script: "ROLLBACK")
            return isCancelled
        }
    }

    @Test("The list of a client that is gone is cancelled in the database, and logged as such")
    func cancelled() async throws {
        try await TestService.run(adjust: { service in
            service.limits.halfClosedTimeout = .milliseconds(50)
            service.limits.tick = .milliseconds(10)
            // Only the client's departure is to end the statement.
            service.configuration.postgres.statementTimeout = .seconds(120)
        }) { service in
            let token = try await service.makeToken()
            // A request to cancel that a busy machine has not taken note of within 2 s is given up.
            var isCancelled = false
            for _ in 0..<5 where !isCancelled { isCancelled = try await leave(service, token: token) }
            #expect(isCancelled)
            try await poll("the log tells") { service.log.entries.contains { $0.contains("status=499") } }
            #expect(!service.log.text.contains("error request failed"))
            #expect(try await service.list(token: token).status == 200)
        }
    }

    @Test("A client that has only closed its sending side gets a list that does not take long")
    func halfClosed() async throws {
        try await TestService.run(adjust: { service in
            service.limits.halfClosedTimeout = .seconds(120)
            service.limits.tick = .milliseconds(10)
        }) { service in
            let token = try await service.makeToken()
            try await RawConnection.open(port: service.port) { client in
                try await client.send(
                    "GET /api/get_photos HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n\r\n"
                )
                client.finish()
                #expect(try await client.readResponse()?.status == 200)
            }
        }
    }
}
