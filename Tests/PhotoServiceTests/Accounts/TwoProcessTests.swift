import DatabaseTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import PhotoService

@Suite("Sessions that end, on every process at once", .timeLimit(.minutes(3)))
struct TwoProcessTests {
    /// Runs a body with two processes on one database.
    private static func run(_ body: @Sendable ([TestService]) async throws -> Void) async throws {
        try await ServedSelfie.run { first in
            let second = try await ServedSelfie.start(
                databaseURL: first.service.databaseURL,
                objects: first.service.objects,
                postgres: first.service.postgres
            )
            try await body([first.service, second.service])
        }
    }

    private static func signIn(_ service: TestService, password: String) async throws -> String? {
        try await service.signIn(email: "ada@example.com", password: password).json["api_authtoken"] as? String
    }

    @Test("A password change ends every other session, also one that begins at the same time with the old password")
    func passwordChange() async throws {
        try await Self.run { services in
            var token = try await services[0].makeToken(password: "password 0")
            for round in 0..<4 {
                let (old, new) = ("password \(round)", "password \(round + 1)")
                let before = [
                    try await Self.signIn(services[0], password: old),
                    try await Self.signIn(services[1], password: old),
                ]
                let current = token
                async let reset = services[round % 2].sendForm(
                    "POST",
                    "/api/reset_password",
                    authorization: tokenHeader(current),
                    [("old_password", try TestService.encrypt(old)), ("new_password", try TestService.encrypt(new))]
                )
                let beside = try await withThrowingTaskGroup(of: String?.self) { calls in
                    for number in 0..<6 {
                        let service = services[number % 2]
                        calls.addTask { try await Self.signIn(service, password: old) }
                    }
                    return try await calls.reduce(into: []) { $0.append($1) }
                }
                token = try #require(try await reset.json["api_authtoken"] as? String)
                let ended = (before + beside).compactMap(\.self) + [current]
                #expect(ended.count >= 3)
                for service in services {
                    #expect(try await service.list(token: token).status == 200)
                    for ended in ended {
                        let answer = try await service.list(token: ended)
                        #expect(answer.status == 401)
                    }
                }
                #expect(try await services[0].count("SELECT count(*) FROM sessions") == 1)
            }
        }
    }

    @Test("A disabled user's tokens stop working, and no sign-in or reset at the same time makes one that works")
    func disabling() async throws {
        try await Self.run { services in
            let token = try await services[0].makeToken()
            let database = try PostgresConfiguration.patient(url: services[0].databaseURL)
            for _ in 0..<4 {
                let first = try #require(try await Self.signIn(services[0], password: "my password"))
                let tokens = try await withThrowingTaskGroup(of: String?.self) { calls in
                    for number in 0..<6 {
                        let service = services[number % 2]
                        calls.addTask { try await Self.signIn(service, password: "my password") }
                    }
                    calls.addTask {
                        let password = try TestService.encrypt("my password")
                        let answer = try await services[1].sendForm(
                            "POST",
                            "/api/reset_password",
                            authorization: tokenHeader(first),
                            [("old_password", password), ("new_password", password)]
                        )
                        return answer.json["api_authtoken"] as? String
                    }
                    calls.addTask {
                        try await Task.sleep(for: .milliseconds(.random(in: 0...200)))
                        let isDisabled = try await UserAdministration.with(database) { users in
                            try await users.disable(.email("ada@example.com"))
                        }
                        #expect(isDisabled)
                        return nil
                    }
                    return try await calls.reduce(into: []) { tokens, token in token.map { tokens.append($0) } }
                }
                #expect(try await services[0].count("SELECT count(*) FROM sessions") == 0)
                for service in services {
                    for token in tokens + [token, first] { #expect(try await service.list(token: token).status == 401) }
                    let right = try await service.signIn(email: "ada@example.com")
                    #expect(right.status == 403 && right.message == "This account is disabled")
                    let wrong = try await service.signIn(email: "ada@example.com", password: "wrong password")
                    #expect(wrong.status == 401 && wrong.message == "Wrong email or password")
                }
                #expect(try await UserAdministration.with(database) { try await $0.enable(.email("ada@example.com")) })
            }
            #expect(try await Self.signIn(services[1], password: "my password") != nil)
        }
    }

    @Test(
        "A call whose session ends while its password is checked neither changes the password nor deletes the account",
        arguments: ["POST /api/reset_password", "DELETE /api/account"]
    )
    func endedMeanwhile(call: String) async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let password = try TestService.encrypt("my password")
            let words = call.split(separator: " ").map(String.init)
            try await withThrowingTaskGroup(of: Int.self) { calls in
                try await service.postgres.withTransaction { connection in
                    try await connection.query("SELECT id FROM users FOR UPDATE")
                    calls.addTask {
                        try await service.sendForm(
                            words[0],
                            words[1],
                            authorization: tokenHeader(token),
                            [("password", password), ("old_password", password), ("new_password", password)]
                        ).status
                    }
                    try await poll("the call waits for the user's row") {
                        try await service.count(
                            """
                            SELECT count(*) FROM pg_stat_activity
                            WHERE datname = current_database() AND wait_event_type = 'Lock'
                            """
                        ) == 1
                    }
                    let clear = try await service.sendForm(
                        "POST",
                        "/api/clear_token",
                        authorization: tokenHeader(token)
                    )
                    #expect(clear.status == 200)
                }
                #expect(try await calls.next() == 401)
            }
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
            #expect(try await service.count("SELECT count(*) FROM sessions") == 0)
            let events = "SELECT count(*) FROM audit_events WHERE event IN ('password_reset', 'account_deleted')"
            #expect(try await service.count(PostgresQuery(stringLiteral: events)) == 0)
        }
    }

    @Test("A photo that is still on its way when its session ends is not stored")
    func upload() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let body = TestMultipart.body(image: TestImage.jpeg, title: "A photo")
            try await RawConnection.open(port: service.port) { connection in
                try await connection.sendUploadHead(
                    token: token,
                    "Content-Length: \(body.count)",
                    "Expect: 100-continue"
                )
                // Which comes once the token has been looked up.
                #expect(try await connection.readResponse()?.status == 100)
                try await connection.send(body.dropLast(10))
                let clear = try await service.sendForm("POST", "/api/clear_token", authorization: tokenHeader(token))
                #expect(clear.status == 200)
                try await connection.send(body.suffix(10))
                let answer = try await connection.readResponse()
                #expect(answer?.status == 401)
            }
            try await service.expectNothingStored()
        }
    }
}
