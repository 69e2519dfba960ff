import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@testable import SelfieApp
@testable import SelfieCore

@Suite("Accounts whose address is not verified", .timeLimit(.minutes(2)))
struct UnverifiedAccountTests {
    @Test("Whoever proves the address from elsewhere gets the account, without the password and sessions of its maker")
    func hijack() async throws {
        try await TestService.run(settings: TestService.behindProxy) { service in
            let thief = from("203.0.113.1")
            _ = try await service.signUp(email: "ada@example.com", headers: thief)
            let stolen = try #require(try await service.signIn(email: "ada@example.com", headers: thief).token)
            let owner = from("198.51.100.7")
            try await service.requestCode("ada@example.com", for: "signin", owner)
            let code = try await service.mails.code(to: "ada@example.com")
            let token = try #require(try await service.signIn("ada@example.com", code: code, owner).token)
            #expect(try await service.isAlive(token))
            #expect(try await !service.isAlive(stolen))
            for place in [thief, owner] {
                #expect(try await service.signIn(email: "ada@example.com", headers: place).status == 401)
            }
            // Nor does the thief's place count as the owner's.
            #expect(try await service.count("SELECT count(*) FROM known_addresses") == 1)
            try await poll("notice") {
                service.subjects(to: "ada@example.com") == ["Your account for Selfie has no password now"]
            }
            // The second time, nothing ends.
            try await service.requestCode("ada@example.com", for: "signin", from("198.51.100.8"))
            let next = try await service.mails.code(to: "ada@example.com", number: 2)
            #expect(try await service.signIn("ada@example.com", code: next, from("198.51.100.8")).status == 200)
            #expect(try await service.isAlive(token))
        }
    }

    @Test("With password and code, or from where it was used, the password stays", arguments: [true, false])
    func keptPassword(sendsBoth: Bool) async throws {
        try await TestService.run(settings: TestService.behindProxy) { service in
            let home = from("198.51.100.7")
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            let place = sendsBoth ? from("198.51.100.8") : home
            try await service.requestCode("ada@example.com", for: "signin", place)
            let code = try await service.mails.code(to: "ada@example.com")
            let attempt = { (password: String?) in
                let parameters = [("email", "ada@example.com"), ("code", code)]
                return try await service.sendForm(
                    "POST",
                    "/api/signin",
                    authorization: TestService.basic,
                    try parameters + (password.map { [("password", try TestService.encrypt($0))] } ?? []),
                    headers: place
                )
            }
            if sendsBoth {
                let wrong = try await attempt("wrong password")
                #expect(wrong.status == 401 && wrong.json["code"] as? String == "email_or_password_wrong")
            }
            #expect(try await attempt(sendsBoth ? "my password" : nil).status == 200)
            #expect(try await service.signIn(email: "ada@example.com", headers: place).status == 200)
        }
    }

    @Test("With VERIFIED_EMAIL=required, only a code signs in until the address is verified")
    func required() async throws {
        try await TestService.run(settings: ["VERIFIED_EMAIL": "required"]) { service in
            _ = try await service.signUp(email: "ada@example.com")
            let refused = try await service.signIn(email: "ada@example.com")
            #expect(
                refused.text == """
                    {"status":403,"message":"This e-mail address is not verified. Please sign in with a code!",\
                    "code":"email_unverified"}
                    """
            )
            // Whoever lacks the password does not learn it.
            #expect(try await service.signIn(email: "ada@example.com", password: "wrong").status == 401)
            let head =
                "/api/get_token?email=ada@example.com&password=\(try TestService.encrypt("my password").formEncoded)"
            let headers = [("Authorization", TestService.basic)]
            #expect(try await service.send("GET", head, headers: headers).status == 403)
            #expect(try await service.send("HEAD", head, headers: headers).status == 403)
            #expect(try await service.count("SELECT count(*) FROM sessions") == 0)
            try await service.requestCode("ada@example.com")
            let code = try await service.mails.code(to: "ada@example.com")
            #expect(try await service.signIn("ada@example.com", code: code).status == 200)
            #expect(try await service.signIn(email: "ada@example.com").status == 200)
            // A server that refuses mails later locks nobody out.
            try await service.postgres.write("UPDATE users SET email_refused_at = now()")
            #expect(try await service.signIn(email: "ada@example.com").status == 200)
        }
    }

    @Test("Sign-up without a password sends a code, and nobody signs in before it is used")
    func withoutPassword() async throws {
        let settings = ["SIGNUP_WITHOUT_PASSWORD": "true", "GET_TOKEN_WITHOUT_PASSWORD": "true"]
        try await TestService.run(settings: settings) { service in
            let answer = try await service.signUpWithoutPassword()
            #expect(answer.status == 200 && answer.json["api_authtoken"] is NSNull)
            for password in ["*", "my password"] {
                #expect(try await service.signIn(email: "ada@example.com", password: password).status == 401)
            }
            let headers = [("Authorization", TestService.basic)]
            let early = try await service.send("GET", "/api/get_token?email=ada@example.com", headers: headers)
            #expect(early.status == 403 && early.json["code"] as? String == "email_unverified")
            let code = try await service.mails.code(to: "ada@example.com")
            #expect(try await service.signIn("ada@example.com", code: code).status == 200)
            let late = try await service.send("GET", "/api/get_token?email=ada@example.com", headers: headers)
            #expect(late.status == 200)
            let again = try await service.signUpWithoutPassword()
            #expect(again.status == 400 && again.json["code"] as? String == "email_taken")
            // Accounts with a password are made as before.
            #expect(try await service.signUp(email: "grace@example.com").status == 200)
            #expect(service.mails.lines(to: "grace@example.com").isEmpty)
            let short = try await service.signUp(email: "eve@example.com", password: "short")
            #expect(short.json["code"] as? String == "password_too_short")
        }
    }

    @Test("One whose address is verified while its removal waits stays")
    func verifiedMeanwhile() async throws {
        try await TestService.run(
            settings: ["SIGNUP_WITHOUT_PASSWORD": "true"],
            adjust: { $0.tidyInterval = .seconds(3_600) }
        ) { service in
            _ = try await service.signUpWithoutPassword()
            try await service.postgres.write("UPDATE users SET provisional_until = now() AT TIME ZONE 'UTC'")
            let removal = try await service.postgres.withTransaction { connection in
                try await connection.execute("UPDATE users SET provisional_until = NULL")
                let removal = Task { try await RemoveAccount(postgres: service.postgres).removeEndedProvisional() }
                try await poll("the removal waits") {
                    try await service.count(
                        """
                        SELECT count(*) FROM pg_stat_activity
                        WHERE wait_event_type = 'Lock' AND datname = current_database()
                        """
                    ) == 1
                }
                return removal
            }
            try await removal.value
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
            try await service.postgres.write("UPDATE users SET provisional_until = now() AT TIME ZONE 'UTC'")
            try await RemoveAccount(postgres: service.postgres).removeEndedProvisional()
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
        }
    }

    @Test("An address that no mail can go to makes no account without a password")
    func unreachable() async throws {
        try await TestService.run(settings: ["SIGNUP_WITHOUT_PASSWORD": "true"]) { service in
            for email in ["ä@example.com", "a@-b-.com"] {
                let answer = try await service.signUpWithoutPassword(email)
                #expect(answer.status == 400 && answer.json["code"] as? String == "email_invalid")
                #expect(try await service.signUp(email: email).status == 200)
            }
            // Requests for codes do not use up the sign-up's own.
            for _ in 0..<3 { try await service.requestCode("ada@example.com") }
            #expect(try await service.signUpWithoutPassword().status == 200)
            _ = try await service.mails.code(to: "ada@example.com")
        }
    }

    @Test("Without the setting, sign-up needs a password")
    func needsPassword() async throws {
        try await TestService.run { service in
            let answer = try await service.signUpWithoutPassword()
            #expect(answer.status == 400 && answer.json["parameters"] as? [String] == ["password"])
        }
    }

    @Test("An account without a password goes after a day, unless its address was verified")
    func provisional() async throws {
        try await TestService.run(
            settings: ["SIGNUP_WITHOUT_PASSWORD": "true"],
            adjust: { $0.tidyInterval = .milliseconds(50) }
        ) { service in
            _ = try await service.makeTokenWithoutPassword()
            for name in ["eve", "grace"] { _ = try await service.signUpWithoutPassword("\(name)@example.com") }
            let due = """
                SELECT count(*) FROM users
                WHERE provisional_until - (now() AT TIME ZONE 'UTC') BETWEEN interval '23 hours' AND interval '24 hours'
                """
            #expect(try await service.count("\(part: .init(stringLiteral: due))") == 2)
            try await service.postgres.write(
                "UPDATE users SET provisional_until = now() AT TIME ZONE 'UTC' WHERE email = 'eve@example.com'"
            )
            try await poll("removal") { try await service.count("SELECT count(*) FROM users") == 2 }
            let left = try await service.postgres.read("SELECT email FROM users ORDER BY email")
            #expect(
                try left.map { try $0.decode("email", as: String.self) } == ["ada@example.com", "grace@example.com"]
            )
            // Nobody is told: the address may be anybody's.
            #expect(service.subjects(to: "eve@example.com").isEmpty)
            #expect(
                try await service.count("SELECT count(*) FROM deliveries WHERE cause->>'kind' = 'account_deleted'") == 0
            )
            #expect(try await service.signUpWithoutPassword("eve@example.com").status == 200)
        }
    }
}
