import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Sessions that are remembered", .timeLimit(.minutes(2)))
struct RememberedSessionTests {
    private static func begin(
        _ service: TestService,
        _ call: (method: String, path: String) = ("POST", "/api/signin"),
        remember: String?
    ) async throws -> HTTPAnswer {
        try await service.sendForm(
            call.method,
            call.path,
            authorization: TestService.basic,
            [("email", "ada@example.com"), ("password", try TestService.encrypt("my password"))]
                + (remember.map { [("remember", $0)] } ?? [])
        )
    }

    private static func token(_ answer: HTTPAnswer) throws -> String {
        try #require(answer.json["api_authtoken"] as? String, "\(answer.text)")
    }

    /// Lets days pass for all sessions.
    private static func pass(days: Int, _ service: TestService) async throws {
        try await service.postgres.write(
            """
            UPDATE sessions SET last_used_at = last_used_at - make_interval(days => \(days)::integer),
                expires_at = expires_at - make_interval(days => \(days)::integer)
            """
        )
    }

    private static func list(_ service: TestService, _ token: String) async throws -> Int {
        try await service.send("GET", "/api/get_photos", headers: [("Authorization", tokenHeader(token))]).status
    }

    /// How many minutes after a date the one session ends.
    private static func minutesLeft(_ service: TestService, after date: Date) async throws -> Int {
        try await service.count(
            """
            SELECT (extract(epoch FROM expires_at - \(date)::timestamp) / 60)::bigint AS count FROM sessions
            """
        )
    }

    private static let day = 24 * 60

    @Test(
        "A remembered session is used for longer than it may be unused",
        arguments: [("POST", "/api/signin"), ("GET", "/api/get_token")]
    )
    func use(method: String, path: String) async throws {
        try await TestService.run(adjust: { $0.sessionUseInterval = .milliseconds(50) }) { service in
            _ = try await service.signUp(email: "ada@example.com")
            let token = try Self.token(try await Self.begin(service, (method, path), remember: "true"))
            #expect(try await Self.minutesLeft(service, after: service.clock.now) == 90 * Self.day)
            for _ in 1...4 {
                try await Self.pass(days: 30, service)
                #expect(try await Self.list(service, token) == 200)
                try await poll("the end moves on") {
                    try await Self.minutesLeft(service, after: Date()) >= 90 * Self.day - 1
                }
            }
        }
    }

    @Test("A remembered session that was not used for 90 days has ended")
    func disuse() async throws {
        try await TestService.run(adjust: { $0.doesNothingByItself() }) { service in
            _ = try await service.signUp(email: "ada@example.com")
            let token = try Self.token(try await Self.begin(service, remember: "yes"))
            try await Self.pass(days: 89, service)
            #expect(try await Self.list(service, token) == 200)
            try await Self.pass(days: 1, service)
            #expect(try await Self.list(service, token) == 401)
        }
    }

    @Test("Without a wish, and with the opposite, a session ends after a day of use", arguments: [nil, "false", ""])
    func usual(remember: String?) async throws {
        try await TestService.run(adjust: { $0.sessionUseInterval = .milliseconds(50) }) { service in
            _ = try await service.signUp(email: "ada@example.com")
            let token = try Self.token(try await Self.begin(service, remember: remember))
            try await service.postgres.write(
                "UPDATE sessions SET last_used_at = last_used_at - interval '1 hour', expires_at = expires_at - interval '1 hour'"
            )
            #expect(try await Self.list(service, token) == 200)
            try await poll("the use is noted") {
                try await service.count(
                    "SELECT count(*) FROM sessions WHERE last_used_at > now() AT TIME ZONE 'UTC' - interval '1 minute'"
                ) == 1
            }
            #expect(try await Self.minutesLeft(service, after: service.clock.now) == 23 * 60)
            try await Self.pass(days: 1, service)
            #expect(try await Self.list(service, token) == 401)
        }
    }

    @Test("Another wish is refused, and no session begins")
    func invalid() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            let answer = try await Self.begin(service, remember: "maybe")
            #expect(answer.status == 400)
            #expect(answer.json["code"] as? String == "remember_invalid")
            #expect(try await service.count("SELECT count(*) FROM sessions") == 0)
        }
    }

    @Test("An array or an object where a text belongs is refused, too", arguments: ["remember", "device"])
    func structure(name: String) async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            let password = try TestService.encrypt("my password")
            for value in ["{}", "[true]"] {
                let body = #"{"email": "ada@example.com", "password": "\#(password)", "\#(name)": \#(value)}"#
                let answer = try await service.send(
                    "POST",
                    "/api/signin",
                    headers: [("Authorization", TestService.basic), ("Content-Type", "application/json")],
                    body: Data(body.utf8)
                )
                #expect(answer.status == 400)
                #expect(answer.json["code"] as? String == "\(name)_invalid")
            }
            #expect(try await service.count("SELECT count(*) FROM sessions") == 0)
        }
    }

    @Test("After a new password, a session is remembered if the one before was", arguments: [true, false])
    func newPassword(isRemembered: Bool) async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            let token = try Self.token(try await Self.begin(service, remember: "\(isRemembered)"))
            let answer = try await service.sendForm(
                "POST",
                "/api/reset_password",
                authorization: tokenHeader(token),
                [
                    ("old_password", try TestService.encrypt("my password")),
                    ("new_password", try TestService.encrypt("another password")),
                ]
            )
            #expect(answer.status == 200, "\(answer.text)")
            let days = isRemembered ? 90 : 1
            #expect(try await Self.minutesLeft(service, after: service.clock.now) == days * Self.day)
            #expect(
                try await service.count("SELECT count(*) FROM sessions WHERE max_unused_days = 90")
                    == (isRemembered ? 1 : 0)
            )
        }
    }
}
