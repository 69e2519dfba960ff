import ConnectionTestSupport
import Foundation
import Logging
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieAccounts
@testable import SelfieApp

@Suite("Sessions that people see and end", .timeLimit(.minutes(2)))
struct SessionListTests {
    private static func list(_ service: TestService, _ token: String) async throws -> [[String: Any]] {
        let answer = try await service.send("GET", "/api/sessions", headers: [("Authorization", tokenHeader(token))])
        #expect(answer.status == 200)
        #expect(answer.headers["cache-control"] == "private, no-cache")
        return try #require(answer.jsonArray)
    }

    private static func end(_ service: TestService, _ id: String, _ token: String) async throws -> HTTPAnswer {
        try await service.send("DELETE", "/api/sessions/\(id)", headers: [("Authorization", tokenHeader(token))])
    }

    private static func token(
        _ service: TestService,
        device: String? = nil,
        agent: String? = nil
    ) async throws -> String {
        let answer = try await service.sendForm(
            "POST",
            "/api/signin",
            authorization: TestService.basic,
            [("email", "ada@example.com"), ("password", try TestService.encrypt("my password"))]
                + (device.map { [("device", $0)] } ?? []),
            headers: agent.map { [("User-Agent", $0)] } ?? []
        )
        return try #require(answer.json["api_authtoken"] as? String, "\(answer.text)")
    }

    @Test("The list has id, device, times and the current session, newest first, and only the user's own")
    func list() async throws {
        try await TestService.run { service in
            _ = try await service.makeToken(email: "bob@example.com")
            _ = try await service.signUp(email: "ada@example.com")
            let tokens = [
                try await Self.token(service, agent: "Selfie/1.0 (iPhone; iOS 17.0)"),
                try await Self.token(service, device: " Ada's \"new\" phone ", agent: "Selfie/2.0"),
                try await Self.token(service, device: ""),
            ]
            let sessions = try await Self.list(service, tokens[1])
            #expect(
                sessions.map { $0["device"] as? String } == [
                    nil, "Ada's \"new\" phone", "Selfie/1.0 (iPhone; iOS 17.0)",
                ]
            )
            #expect(sessions.map { $0["current"] as? Bool } == [false, true, false])
            #expect(Set(sessions.compactMap { $0["id"] as? String }).count == 3)
            for session in sessions {
                #expect(Set(session.keys) == ["id", "device", "created_at", "last_used_at", "expires_at", "current"])
                for key in ["created_at", "last_used_at", "expires_at"] {
                    let text = try #require(session[key] as? String)
                    #expect(text.contains(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))
                }
            }
            let head = try await service.send(
                "HEAD",
                "/api/sessions",
                headers: [("Authorization", tokenHeader(tokens[0]))]
            )
            #expect(head.status == 200 && head.body.isEmpty)
        }
    }

    @Test("A session ends by its id, one of parallel calls succeeds, and other users' sessions stay")
    func end() async throws {
        try await TestService.run { service in
            let bob = try await service.makeToken(email: "bob@example.com")
            let ada = [try await service.makeToken(), try await service.newToken()]
            let bobs = try #require(try await Self.list(service, bob).first?["id"] as? String)
            let sessions = try await Self.list(service, ada[0])
            let other = try #require(sessions.first { $0["current"] as? Bool == false }?["id"] as? String)
            let own = try #require(sessions.first { $0["current"] as? Bool == true }?["id"] as? String)

            for id in [bobs, "0", "-1", "999999999999999999999", "abc", "+\(other)", "0\(other)", "%00", "\(other)%20"]
            {
                let answer = try await Self.end(service, id, ada[0])
                #expect(answer.status == 404, "\(id)")
                #expect(
                    answer.text == #"{"status":404,"message":"There is no such session","code":"session_not_found"}"#
                )
            }
            #expect(try await service.list(token: bob).status == 200)

            let statuses = try await withThrowingTaskGroup(of: Int.self) { tries in
                for _ in 0..<8 { tries.addTask { try await Self.end(service, other, ada[0]).status } }
                return try await tries.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + Array(repeating: 404, count: 7))
            #expect(try await service.list(token: ada[1]).status == 401)
            let last = try await Self.end(service, own, ada[0])
            #expect(last.text == #"{"status":200,"message":"Session ended"}"#)
            #expect(try await service.list(token: ada[0]).status == 401)
        }
    }

    @Test("An expired session is no session: it sees none, ends none, and is not listed")
    func expired() async throws {
        try await TestService.run { service in
            let old = try await service.makeToken()
            service.clock.advance(by: 25 * 3600)
            let new = try await service.newToken()
            #expect(try await Self.list(service, new).count == 1)
            let expected =
                #"{"status":401,"message":"Authtoken has expired. Please get a new token and try again!","code":"token_expired"}"#
            let header = [("Authorization", tokenHeader(old))]
            #expect(try await service.send("GET", "/api/sessions", headers: header).text == expected)
            #expect(try await service.send("DELETE", "/api/sessions/1", headers: header).text == expected)
            for method in ["GET", "DELETE"] {
                let target = "/api/sessions" + (method == "GET" ? "" : "/1")
                #expect(try await service.send(method, target).message == "HTTP Token: Access denied.")
            }
        }
    }

    @Test("Labels that are too long or hold control characters are refused as a parameter, and cut from User-Agent")
    func labels() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            for (device, message) in [
                (String(repeating: "é", count: 256), "device - is too long (maximum is 255 characters),"),
                ("a\0b", "device - is invalid,"), ("a\nb", "device - is invalid,"),
            ] {
                let answer = try await service.sendForm(
                    "POST",
                    "/api/signin",
                    authorization: TestService.basic,
                    [
                        ("email", "ada@example.com"), ("password", try TestService.encrypt("my password")),
                        ("device", device),
                    ]
                )
                #expect(answer.status == 400)
                #expect(answer.message == message)
            }
            #expect(try await service.count("SELECT count(*) FROM sessions") == 0)
            let long = String(repeating: "é", count: 255)
            let token = try await Self.token(service, device: long)
            _ = try await Self.token(service, agent: String(repeating: "a", count: 300))
            let devices = try await Self.list(service, token).map { $0["device"] as? String }
            #expect(devices == [String(repeating: "a", count: 255), long])
        }
    }

    @Test("The last use is noted soon, and by every call")
    func lastUse() async throws {
        try await TestService.run(adjust: { $0.sessionUseInterval = .milliseconds(50) }) { service in
            let token = try await service.makeToken()
            let age = { (seconds: Int) in
                _ = try await service.postgres.write(
                    "UPDATE sessions SET last_used_at = now() AT TIME ZONE 'UTC' - make_interval(secs => \(seconds))"
                )
            }
            let ageNow = {
                try await service.count(
                    """
                    SELECT extract(epoch FROM now() AT TIME ZONE 'UTC' - last_used_at)::bigint AS count FROM sessions
                    """
                )
            }
            for target in ["/api/get_photos", "/api/sessions"] {
                try await age(3_600)
                _ = try await service.send("GET", target, headers: [("Authorization", tokenHeader(token))])
                try await poll("the use is noted") { try await ageNow() < 60 }
            }
        }
    }

    @Test("A use is noted again once the last one is a minute old, and not of a session that has expired")
    func lastUseAgain() async throws {
        try await TestService.run(adjust: { $0.doesNothingByItself() }) { service in
            _ = try await service.makeToken()
            let id = try await service.count("SELECT id::bigint AS count FROM sessions")
            let recorder = SessionUseRecorder(
                sessions: SessionStore(postgres: service.postgres),
                logger: service.log.logger(level: .info)
            )
            for (age, lifetime, isNoted) in [(59, 60, false), (61, 60, true), (61, -1, false)] {
                try await service.postgres.write(
                    """
                    UPDATE sessions SET last_used_at = now() AT TIME ZONE 'UTC' - make_interval(secs => \(age)),
                        expires_at = now() AT TIME ZONE 'UTC' + make_interval(secs => \(lifetime))
                    """
                )
                recorder.note(id)
                // Together they count once, and one that nobody has does no harm.
                recorder.note(id)
                recorder.note(id + 1)
                await recorder.writeDown()
                let noted = try await service.count(
                    """
                    SELECT count(*) FROM sessions WHERE last_used_at > now() AT TIME ZONE 'UTC' - interval '50 seconds'
                    """
                )
                #expect(noted == (isNoted ? 1 : 0), "\(age) \(lifetime)")
            }
        }
    }

    @Test("However many sessions were used, all are noted")
    func manyUses() async throws {
        try await TestService.run(adjust: { $0.doesNothingByItself() }) { service in
            _ = try await service.makeToken()
            try await service.postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, device, created_at, last_used_at, expires_at)
                SELECT user_id, sha256(convert_to(n::text, 'UTF8')), device, created_at, last_used_at, expires_at
                FROM sessions, generate_series(1, 1000) AS n
                """
            )
            try await service.postgres.write("UPDATE sessions SET last_used_at = last_used_at - interval '1 day'")
            let recorder = SessionUseRecorder(
                sessions: SessionStore(postgres: service.postgres),
                logger: service.log.logger(level: .info)
            )
            let rows = try await service.postgres.read("SELECT id::bigint AS id FROM sessions")
            for row in rows { recorder.note(try row.decode("id")) }
            await recorder.writeDown()
            let notedCount = try await service.count(
                "SELECT count(*) FROM sessions WHERE last_used_at > now() AT TIME ZONE 'UTC' - interval '1 hour'"
            )
            #expect(rows.count == 1_001 && notedCount == rows.count)
        }
    }

    @Test("However many sessions there are, the caller's own is among those that are listed")
    func many() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            try await service.postgres.write(
                """
                INSERT INTO sessions (user_id, token_digest, expires_at)
                SELECT (SELECT id FROM users), sha256(i::text::bytea), now() AT TIME ZONE 'UTC' + interval '1 day'
                FROM generate_series(1, 1200) AS i
                """
            )
            let sessions = try await Self.list(service, token)
            #expect(sessions.count == 1_000)
            #expect(sessions.last?["current"] as? Bool == true)
            let ids = sessions.compactMap { ($0["id"] as? String).flatMap { Int($0) } }
            let sorted = Array(ids.sorted().reversed())
            #expect(ids.count == 1_000)
            #expect(ids == sorted)
        }
    }
}
