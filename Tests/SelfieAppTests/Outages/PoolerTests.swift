import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieOperations

@Suite("Behind PgBouncer in transaction mode", .timeLimit(.minutes(2)))
struct PoolerTests {
    /// All calls of one user, and what each must show.
    private static func useEverything(_ service: TestService, _ name: String) async throws {
        let email = "\(name)@example.com"
        var token = try await service.makeToken(email: email)
        for number in 0..<6 {
            let upload = try await service.upload(
                TestImage.png(bytes: 100 + number),
                token: token,
                title: "\(name) \(number)"
            )
            #expect(upload.status == 200, "\(upload.text)")
            let list = try await service.list(token: token)
            #expect(
                list.jsonArray?.map { $0["title"] as? String } == (0...number).map { "\(name) \($0)" },
                "\(list.text)"
            )
            let url = try #require(list.jsonArray?.last?["image_url"] as? String)
            #expect(try await service.send("GET", url).body.count == 100 + number)
        }
        let first = try #require(try await service.list(token: token).jsonArray?.first?["random_id"] as? String)
        #expect(try await service.delete(first, token: token).status == 200)
        #expect(try await service.delete(first, token: token).status == 401)
        let password = try TestService.encrypt("my password")
        let reset = try await service.sendForm(
            "POST",
            "/api/reset_password",
            authorization: "Token \(token)",
            [("old_password", password), ("new_password", password)]
        )
        token = try #require(reset.json["api_authtoken"] as? String, "\(reset.text)")
        #expect(try await service.list(token: token).jsonArray?.count == 5)
        #expect(try await service.signIn(email: email, password: "wrong").status == 401)
        let sessions = try await service.send("GET", "/api/sessions", headers: [("Authorization", "Token \(token)")])
        #expect(sessions.jsonArray?.count == 1)
        let gone = try await service.sendForm(
            "DELETE",
            "/api/account",
            authorization: "Token \(token)",
            [("password", password)]
        )
        #expect(gone.status == 200, "\(gone.text)")
        #expect(try await service.list(token: token).status == 401)
    }

    @Test("Nothing is set in sessions that others use, and what needs a session of its own is refused before it begins")
    func sessions() async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await Pgbouncer.with(databaseURL, sessions: 1) { pooled in
                try await TestService.run(databaseURL: pooled) { service in
                    let token = try await service.makeToken()
                    #expect(try await service.upload(token: token).status == 200)
                    let rows = try await service.postgres.read(
                        "SELECT name FROM pg_settings WHERE name IN ('jit', 'statement_timeout') AND source = 'session'"
                    )
                    #expect(rows.isEmpty)
                    let error = await #expect(throws: InstallationError.self) {
                        try await service.postgres.withConnection { _ = try await ObjectListing(on: $0) }
                    }
                    #expect(error?.description.contains("DATABASE_URL of the database itself") == true)
                    await #expect(throws: InstallationError.self) {
                        try await service.postgres.withConnection { _ = try await CopyList(on: $0) }
                    }
                    let tables = try await service.count("SELECT count(*) FROM pg_class WHERE relpersistence = 't'")
                    #expect(tables == 0)
                }
            }
        }
    }

    @Test(
        "With SELFIE_TEST_POOLER, services and stores of all tests get their sessions from PgBouncer",
        .enabled(if: TestPooler.isOn)
    )
    func allTests() async throws {
        try await TestService.run { service in
            let settings = TestPooler.settings(["DATABASE_URL": service.databaseURL])
            #expect(settings["DATABASE_URL"] != service.databaseURL)
            #expect(settings["DATABASE_URL_LISTEN"] == service.databaseURL)
            let query: PostgresQuery = "SELECT source FROM pg_settings WHERE name = 'statement_timeout'"
            // A client sets the time limit of a session of its own, and leaves those of a pooler to the role.
            let direct: String = try await service.postgres.read(query)[0].decode("source")
            let pooled: String = try await TestCluster.withClient(service.databaseURL) { pooled in
                try await pooled.read(query)[0].decode("source")
            }
            #expect((direct, pooled) == ("session", "user"))
        }
    }

    @Test("Two services share a few sessions, and no statement is mistaken for another", arguments: [1, 3])
    func transactionMode(sessions: Int) async throws {
        try await TestCluster.withDatabase { databaseURL in
            try await Pgbouncer.with(databaseURL, sessions: sessions) { pooled in
                let settings = ["RATE_LIMITS": "on", "RATE_LIMIT_SIGNIN_PER_ADDRESS": "1000/1h"]
                try await TestService.run(databaseURL: pooled, settings: settings) { first in
                    try await TestService.run(databaseURL: pooled, settings: settings) { second in
                        try await withThrowingTaskGroup(of: Void.self) { users in
                            for number in 0..<6 {
                                users.addTask {
                                    try await Self.useEverything(number % 2 == 0 ? first : second, "user\(number)")
                                }
                            }
                            try await users.waitForAll()
                        }
                        for service in [first, second] {
                            #expect(!service.log.entries.contains { $0.contains("status=5") })
                        }
                    }
                }
            }
        }
    }
}
