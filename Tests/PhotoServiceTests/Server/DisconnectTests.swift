import NIOCore
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

@Suite("Clients that go away", .timeLimit(.minutes(1)))
struct DisconnectTests {
    /// How many statements wait for a lock on the table of photos.
    private func waiting(_ connection: PostgresConnection) async throws -> Int {
        let rows = try await connection.query(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        )
        return try rows[0].decode("count")
    }

    /// Makes a client ask for its list while the database can't answer, and go away.
    private func leave(
        _ service: TestService,
        token: String,
        beforeTheEnd: @Sendable (PostgresConnection) async throws -> Void
    ) async throws {
        try await service.postgres.withConnection { connection in
            try await connection.execute(script: "BEGIN; LOCK TABLE photos IN ACCESS EXCLUSIVE MODE")
            try await RawConnection.open(port: service.port) { client in
                try await client.send(
                    "GET /api/get_photos HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n\r\n"
                )
                try await poll("the list waits in the database") { try await waiting(connection) == 1 }
                client.finish()
                try await beforeTheEnd(connection)
            }
            try await connection.execute(script: "ROLLBACK")
        }
    }

    @Test("The list of a client that is gone is cancelled in the database, and logged as such")
    func cancelled() async throws {
        try await TestService.run(adjust: { service in
            service.limits.halfClosedTimeout = .milliseconds(100)
            service.limits.tick = .milliseconds(50)
        }) { service in
            let token = try await service.makeToken()
            try await leave(service, token: token) { connection in
                try await poll("nothing waits any longer") { try await waiting(connection) == 0 }
            }
            #expect(service.log.entries.contains { $0.contains("status=499") })
            #expect(!service.log.text.contains("error request failed"))
            #expect(try await service.list(token: token).status == 200)
        }
    }

    @Test("A client that has only closed its sending side gets a list that does not take long")
    func halfClosed() async throws {
        try await TestService.run(adjust: { service in
            service.limits.halfClosedTimeout = .seconds(30)
            service.limits.tick = .milliseconds(50)
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
