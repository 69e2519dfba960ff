import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Codes", .timeLimit(.minutes(2)))
struct CodeTests {
    @Test("A code signs in once, and verifies the address")
    func signIn() async throws {
        try await TestService.run { service in
            let old = try await service.makeToken()
            #expect(try await service.me(old)["email_state"] as? String == "unverified")
            try await service.requestCode(" ADA@example.com")
            let code = try await service.mails.code(to: "ada@example.com")
            let answer = try await service.signIn("ada@example.com", code: " \(code.prefix(3)) \(code.suffix(3))")
            #expect(answer.status == 200 && answer.headers["cache-control"] == "no-store")
            let token = try #require(answer.token)
            #expect(try await service.me(token)["email_state"] as? String == "verified")
            #expect(try await service.signIn("ada@example.com", code: code).isInvalidCode)
            // From a place where the account was used before, all else stays.
            #expect(try await service.isAlive(old))
            #expect(try await service.signIn(email: "ada@example.com").status == 200)
        }
    }

    @Test("get_token takes a code, too, and HEAD does not use it up")
    func getToken() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            try await service.requestCode("ada@example.com")
            let code = try await service.mails.code(to: "ada@example.com")
            let target = "/api/get_token?email=ada@example.com&code=\(code)"
            let headers = [("Authorization", TestService.basic)]
            #expect(try await service.send("HEAD", target, headers: headers).status == 200)
            let token = try #require(try await service.send("GET", target, headers: headers).token)
            #expect(try await service.isAlive(token))
            #expect(try await service.send("HEAD", target, headers: headers).status == 401)
            #expect(try await service.send("GET", target, headers: headers).isInvalidCode)
        }
    }

    @Test("A code is for one purpose, one account and ten minutes, and a new one replaces it")
    func refusals() async throws {
        try await TestService.run { service in
            for name in ["ada", "grace"] { _ = try await service.signUp(email: "\(name)@example.com") }
            try await service.requestCode("ada@example.com")
            let first = try await service.mails.code(to: "ada@example.com")
            // Another purpose, another account, one without a code, none at all.
            #expect(try await service.recover("ada@example.com", code: first).isInvalidCode)
            try await service.requestCode("grace@example.com")
            let other = try await service.mails.code(to: "grace@example.com")
            if other != first { #expect(try await service.signIn("ada@example.com", code: other).isInvalidCode) }
            for text in ["", "1", "abcdef", "\(first)0", String(repeating: "1", count: 1_000), "１２３４５６"] {
                #expect(try await service.signIn("nobody@example.com", code: text).isInvalidCode)
            }
            try await service.requestCode("ada@example.com")
            let second = try await service.mails.code(to: "ada@example.com", number: 2)
            if first != second { #expect(try await service.signIn("ada@example.com", code: first).isInvalidCode) }
            #expect(try await service.signIn("ada@example.com", code: second).status == 200)
            // The housekeeper may remove one that has ended at any time.
            try await service.requestCode("ada@example.com")
            let third = try await service.mails.code(to: "ada@example.com", number: 3)
            try await service.postgres.write(
                "UPDATE codes SET ends_at = now() AT TIME ZONE 'UTC' - interval '1 ms' WHERE purpose = 'signin'"
            )
            #expect(try await service.signIn("ada@example.com", code: third).isInvalidCode)
        }
    }

    @Test("Of 20 parallel sign-ins with one code, one begins a session")
    func parallel() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            try await service.requestCode("ada@example.com")
            let code = try await service.mails.code(to: "ada@example.com")
            let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { tasks in
                for _ in 0..<20 { tasks.addTask { try await service.signIn("ada@example.com", code: code) } }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.isInvalidCode } == 19)
            #expect(try await service.count("SELECT count(*) FROM sessions") == 1)
        }
    }

    @Test("An address without an account gets the same answers and limits, and no mail")
    func unknownAddress() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            for purpose in ["signin", "reset"] {
                let known = try await service.askForCode("ada@example.com", for: purpose)
                let unknown = try await service.askForCode("eve@example.com", for: purpose)
                #expect(known.text == unknown.text && known.status == unknown.status)
                #expect(Set(known.headers.keys) == Set(unknown.headers.keys))
            }
            _ = try await service.mails.code(to: "ada@example.com", number: 2)
            #expect(service.mails.lines(to: "eve@example.com").isEmpty)
            for email in ["ada@example.com", "eve@example.com"] {
                try await service.requestCode(email)
                let refused = try await service.askForCode(email)
                #expect(refused.status == 429 && refused.headers["retry-after"] != nil)
            }
            // Whoever signs up later gets nothing that was asked for before.
            #expect(try await service.count("SELECT count(*) FROM codes WHERE user_id IS NULL") == 2)
            _ = try await service.signUp(email: "eve@example.com")
            try await service.requestCode("eve@example.com")
            _ = try await service.mails.code(to: "eve@example.com")
            #expect(service.mails.codeCount(to: "eve@example.com") == 1)
        }
    }

    @Test("Other purposes are refused by name")
    func purposes() async throws {
        try await TestService.run { service in
            for purpose in ["email", "SIGNIN", ""] {
                let answer = try await service.askForCode("ada@example.com", for: purpose)
                #expect(answer.status == 400 && answer.json["code"] as? String == "purpose_invalid")
            }
            #expect(try await service.count("SELECT count(*) FROM codes") == 0)
        }
    }

    @Test("A disabled account gets no code, and one that it has does not work")
    func disabled() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            try await service.requestCode("ada@example.com")
            let code = try await service.mails.code(to: "ada@example.com")
            try await service.postgres.write("UPDATE users SET disabled_at = now()")
            try await service.requestCode("ada@example.com", for: "reset")
            #expect(try await service.count("SELECT count(*) FROM codes WHERE user_id IS NULL") == 1)
            let answer = try await service.signIn("ada@example.com", code: code)
            #expect(answer.status == 403 && answer.json["code"] as? String == "account_disabled")
            #expect(try await service.recover("ada@example.com", code: "123456").isInvalidCode)
            #expect(try await service.count("SELECT count(*) FROM sessions") == 0)
        }
    }

    @Test("Without a mail server there is none of the calls, and sign-in takes no code")
    func withoutMail() async throws {
        try await TestService.run(sendsMails: false) { service in
            let token = try await service.makeToken()
            for path in ["request_code", "recover_password"] {
                let answer = try await service.sendForm("POST", "/api/\(path)", authorization: TestService.basic)
                #expect(answer.status == 404 && answer.json["code"] as? String == "endpoint_not_found")
            }
            for path in ["change_email", "confirm_email", "set_password"] {
                #expect(try await service.form("/api/\(path)", token: token, []).status == 404)
            }
            let answer = try await service.signIn("ada@example.com", code: "123456")
            #expect(answer.status == 400 && answer.json["parameters"] as? [String] == ["password"])
            // Nor is a notice queued.
            let changed = try await service.sendForm(
                "POST",
                "/api/reset_password",
                authorization: tokenHeader(token),
                [
                    ("old_password", try TestService.encrypt("my password")),
                    ("new_password", try TestService.encrypt("another password")),
                ]
            )
            #expect(changed.status == 200)
            #expect(try await service.count("SELECT count(*) FROM deliveries") == 0)
        }
    }
}
