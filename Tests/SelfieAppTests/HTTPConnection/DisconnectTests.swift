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
    /// Texts of the statement that finds a token's session, and of the one that selects the photos of a list.
    private static let (lookUp, selection) = ("WHERE token_digest = asked.key LIMIT 1", "AS photo_ids")

    /// How many statements with one of some texts wait for a lock.
    ///
    /// Asked outside of a transaction, which would see the same activity all the time.
    private func waiting(_ service: TestService, for texts: [String]) async throws -> Int {
        try await service.count(
            """
            SELECT count(*) AS count FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ANY(\(texts.map { "%\($0)%" }))
            """
        )
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

    @Test("The list of a disconnected client is cancelled in the database, and logged as such")
    func cancelled() async throws {
        try await withService { service in
            let token = try await service.makeToken()
            try await service.postgres.withConnection { connection in
                try await connection.execute(script: "BEGIN; LOCK TABLE photos IN ACCESS EXCLUSIVE MODE")
                try await RawConnection.open(port: service.port) { client in
                    try await client.send(
                        "GET /api/get_photos HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n\r\n"
                    )
                    try await poll("the list waits in the database") {
                        try await waiting(service, for: [Self.selection]) == 1
                    }
                    client.finish()
                    // The database can't have answered: the lock is still held.
                    try await poll("nothing waits any longer") {
                        try await waiting(service, for: [Self.selection]) == 0
                    }
                    try await poll("it is logged") { service.log.entries.contains { $0.contains("status=499") } }
                }
                try await connection.execute(script: "ROLLBACK")
            }
            #expect(!service.log.entries.contains { $0.hasPrefix("error request") })
            #expect(try await service.list(token: token).status == 200)
        }
    }

    @Test(
        "A GET that changes something is not given up",
        arguments: ["/api/clear_token", "//api/clear_token.json/?all=true"]
    )
    func goesOn(path: String) async throws {
        try await withService { service in
            let token = try await service.makeToken()
            let other = try await service.signIn(email: "ada@example.com").json["api_authtoken"] as? String ?? ""
            try await service.postgres.withConnection { connection in
                // Not even while its token is looked up. A list that comes and goes later shows that the time for it has passed.
                try await connection.execute(script: "BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE")
                for (number, path) in [path, "/api/get_photos"].enumerated() {
                    try await RawConnection.open(port: service.port) { client in
                        try await client.send(
                            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token \(token)\r\n\r\n"
                        )
                        try await poll("it waits in the database") {
                            try await waiting(service, for: [Self.lookUp]) == number + 1
                        }
                        // It is slow by then, so no other statement is sent behind it.
                        try await Task.sleep(for: .milliseconds(50))
                        client.finish()
                    }
                }
                try await poll("the list is given up") { try await waiting(service, for: [Self.lookUp]) == 1 }
                try await connection.execute(script: "ROLLBACK")
            }
            try await poll("the token is cleared") { try await service.list(token: token).status == 401 }
            #expect(try await service.list(token: other).status == (path.contains("all") ? 401 : 200))
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
