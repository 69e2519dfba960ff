import ConnectionTestSupport
import DatabaseTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Sessions that end, on every process at once", .timeLimit(.minutes(2)))
struct EndedSessionTests {
    private static func signIn(_ service: TestService, password: String) async throws -> (status: Int, token: String?) {
        let answer = try await service.signIn(email: "ada@example.com", password: password)
        return (answer.status, answer.json["api_authtoken"] as? String)
    }

    private static func reset(
        _ service: TestService,
        token: String,
        from old: String,
        to new: String
    ) async throws -> HTTPAnswer {
        try await service.sendForm(
            "POST",
            "/api/reset_password",
            authorization: tokenHeader(token),
            [("old_password", try TestService.encrypt(old)), ("new_password", try TestService.encrypt(new))]
        )
    }

    @Test("A password change ends every other session, also those that begin at the same time with the old password")
    func passwordChange() async throws {
        try await TwoServices.run { services in
            let token = try await services[0].makeToken(password: "password 0")
            let before = [
                try #require(try await Self.signIn(services[0], password: "password 0").token),
                try #require(try await Self.signIn(services[1], password: "password 0").token),
            ]
            let (reset, begun) = try await withThrowingTaskGroup(of: (Int, HTTPAnswer).self) { calls in
                try await services[0].postgres.withTransaction { connection in
                    // What sign-ins share, and a reset needs for itself.
                    try await connection.query("SELECT id FROM users FOR NO KEY UPDATE")
                    // Four sign-ins wait for the account's row, then the reset, and behind it four more sign-ins.
                    for number in 0..<9 {
                        calls.addTask {
                            let service = services[number % 2]
                            if number == 4 {
                                return (
                                    number,
                                    try await Self.reset(service, token: token, from: "password 0", to: "password 1")
                                )
                            }
                            return (number, try await service.signIn(email: "ada@example.com", password: "password 0"))
                        }
                        try await services[1].waitForLocks(number + 1)
                    }
                }
                var answers: [Int: HTTPAnswer] = [:]
                for try await (number, answer) in calls { answers[number] = answer }
                #expect((0..<9).map { answers[$0]?.status } == [200, 200, 200, 200, 200, 401, 401, 401, 401])
                let reset = try #require(answers[4])
                return (reset, try (0..<4).map { try TestService.token(of: try #require(answers[$0])) })
            }
            #expect(begun.count == 4)
            let new = try TestService.token(of: reset)
            for service in services {
                #expect(try await service.list(token: new).status == 200)
                for ended in before + begun + [token] { #expect(try await service.list(token: ended).status == 401) }
                #expect(try await Self.signIn(service, password: "password 0").status == 401)
            }
            #expect(try await services[0].count("SELECT count(*) FROM sessions") == 1)
            #expect(try await Self.signIn(services[1], password: "password 1").status == 200)
        }
    }

    @Test("A sign-in with the old password waits for a reset that is under way, and is refused")
    func signInDuringReset() async throws {
        try await TwoServices.run { services in
            let token = try await services[0].makeToken(password: "password 0")
            let (reset, signIn) = try await withThrowingTaskGroup(of: (Bool, HTTPAnswer).self) { calls in
                try await services[0].postgres.withTransaction { connection in
                    // What the reset needs once it has changed the password.
                    try await connection.query("SELECT id FROM sessions FOR UPDATE")
                    calls.addTask {
                        (true, try await Self.reset(services[0], token: token, from: "password 0", to: "password 1"))
                    }
                    try await services[0].waitForLocks(1)
                    calls.addTask {
                        (false, try await services[1].signIn(email: "ada@example.com", password: "password 0"))
                    }
                    try await services[0].waitForLocks(2)
                }
                let answers = try await calls.reduce(into: [:]) { $0[$1.0] = $1.1 }
                return (try #require(answers[true]), try #require(answers[false]))
            }
            #expect(reset.status == 200)
            #expect(signIn.status == 401 && signIn.message == Refusal.wrongCredentials)
            #expect(try await services[0].count("SELECT count(*) FROM sessions") == 1)
            #expect(try await services[1].list(token: try TestService.token(of: reset)).status == 200)
        }
    }

    @Test("A disabled user's tokens stop working, and no sign-in, reset or deletion under way does what it was to do")
    func disabling() async throws {
        let gates = [ThreadGate(), ThreadGate()]
        for gate in gates { gate.open() }
        try await TwoServices.run(adjust: { $1.computesHashes(threads: 8, through: gates[$0]) }) { services in
            defer { for gate in gates { gate.open() } }
            let token = try await services[0].makeToken()
            let password = try TestService.encrypt("my password")
            for gate in gates { gate.close() }
            let answers = try await withThrowingTaskGroup(of: (String, HTTPAnswer).self) { calls in
                for (number, name) in ["POST signin", "GET get_token", "POST reset_password", "DELETE account"]
                    .enumerated()
                {
                    let words = name.split(separator: " ")
                    calls.addTask {
                        let answer = try await services[number % 2].sendForm(
                            String(words[0]),
                            "/api/\(words[1])",
                            authorization: number < 2 ? TestService.basic : tokenHeader(token),
                            [
                                ("email", "ada@example.com"), ("password", password), ("old_password", password),
                                ("new_password", try TestService.encrypt("new password")),
                            ]
                        )
                        return (name, answer)
                    }
                }
                try await poll("all passwords are being checked") { gates.map(\.heldCount) == [2, 2] }
                try await services[0].administer(isDisabled: true)
                for gate in gates { gate.open() }
                return try await calls.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(
                answers.mapValues(\.status) == [
                    "POST signin": 403, "GET get_token": 403, "POST reset_password": 401, "DELETE account": 401,
                ]
            )
            #expect(answers["POST signin"]?.message == "This account is disabled")
            #expect(answers["POST reset_password"]?.message == Refusal.token)
            #expect(answers["DELETE account"]?.message == Refusal.token)
            #expect(try await services[0].count("SELECT count(*) FROM sessions") == 0)
            for service in services {
                #expect(try await service.list(token: token).status == 401)
                let right = try await service.signIn(email: "ada@example.com")
                #expect(right.status == 403 && right.message == "This account is disabled")
                let wrong = try await service.signIn(email: "ada@example.com", password: "wrong password")
                #expect(wrong.status == 401 && wrong.message == "Wrong email or password")
            }
            try await services[0].administer(isDisabled: false)
            #expect(try await Self.signIn(services[1], password: "my password").status == 200)
        }
    }

    @Test("A disabled user gets no token without a password either, nor one who is disabled meanwhile")
    func disabledWithoutPassword() async throws {
        try await TwoServices.run(settings: ["GET_TOKEN_WITHOUT_PASSWORD": "true"]) { services in
            let getToken = { @Sendable (number: Int) in
                try await services[number].send(
                    "GET",
                    "/api/get_token?email=ada@example.com",
                    headers: [("Authorization", TestService.basic)]
                )
            }
            _ = try await services[0].signUp(email: "ada@example.com")
            #expect(try await getToken(0).status == 200)
            try await services[0].administer(isDisabled: true)
            for number in 0...1 {
                let answer = try await getToken(number)
                #expect(
                    answer.text == #"{"status":403,"message":"This account is disabled","code":"account_disabled"}"#
                )
            }
            #expect(try await services[0].count("SELECT count(*) FROM sessions") == 0)

            try await services[0].administer(isDisabled: false)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { calls in
                try await services[0].postgres.withTransaction { connection in
                    try await connection.execute("UPDATE users SET disabled_at = now() AT TIME ZONE 'UTC'")
                    for number in 0...1 { calls.addTask { try await getToken(number).status } }
                    try await services[0].waitForLocks(2)
                }
                return try await calls.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [403, 403])
            #expect(try await services[0].count("SELECT count(*) FROM sessions") == 0)
        }
    }

    @Test(
        "A call whose session ends while its password is checked neither changes the password nor deletes the account",
        arguments: ["POST /api/reset_password", "DELETE /api/account"]
    )
    func endedMeanwhile(call: String) async throws {
        try await TestService.run(adjust: { $0.waitsPatiently() }) { service in
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
                    try await service.waitForLocks(1)
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
