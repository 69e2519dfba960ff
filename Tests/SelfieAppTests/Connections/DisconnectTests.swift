import ConnectionTestSupport
import DatabaseTestSupport
import NIOCore
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import HTTPConnection
@testable import SelfieApp

@Suite("Clients that go away", .timeLimit(.minutes(3)))
struct DisconnectTests {
    /// How many lists wait for a lock on the table of photos.
    ///
    /// Asked outside of a transaction, which would see the same activity all the time.
    private func waiting(_ service: TestService) async throws -> Int {
        let rows = try await service.postgres.read(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%AS session_id%'
            """
        )
        return try rows[0].decode("count")
    }

    /// Runs a body with a service whose sessions in the database end when their connection does.
    ///
    /// A service that has no answer to its request to cancel for 2 s closes the connection, which is as good: the machine
    /// may be busy.
    private func withService(_ body: @Sendable (TestService) async throws -> Void) async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await TestCluster.withClient(databaseURL) { postgres in
                try await postgres.withConnection { connection in
                    try await connection.execute(
                        script: """
                            DO $$ BEGIN EXECUTE format(
                                'ALTER DATABASE %I SET client_connection_check_interval = 20', current_database()
                            ); END $$
                            """
                    )
                }
            }
            try await TestService.run(
                databaseURL: databaseURL,
                adjust: { service in
                    service.limits.halfClosedTimeout = .milliseconds(20)
                    service.limits.tick = .milliseconds(10)
                    // Only the client's departure is to end the statement.
                    service.waitsPatiently()
                },
                body
            )
        }
    }

    @Test("The list of a client that is gone is cancelled in the database, and logged as such")
    func cancelled() async throws {
        try await withService { service in
            let token = try await service.makeToken()
            try await service.postgres.withConnection { connection in
                try await connection.execute(script: "BEGIN; LOCK TABLE photos IN ACCESS EXCLUSIVE MODE")
                try await RawConnection.open(port: service.port) { client in
                    try await client.send(
                        "GET /api/get_photos HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n\r\n"
                    )
                    try await poll("the list waits in the database") { try await waiting(service) == 1 }
                    client.finish()
                    // The database can't have answered: the lock is still held.
                    try await poll("nothing waits any longer") { try await waiting(service) == 0 }
                    try await poll("the log tells") { service.log.entries.contains { $0.contains("status=499") } }
                }
                try await connection.execute(script: "ROLLBACK")
            }
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
