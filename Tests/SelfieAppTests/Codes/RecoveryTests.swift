import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("A forgotten password", .timeLimit(.minutes(2)))
struct RecoveryTests {
    @Test("A code gives a new password and a token, ends all others, and verifies the address")
    func recover() async throws {
        try await TestService.run { service in
            let old = try await service.makeToken()
            _ = try await service.uploadPhoto(token: old)
            let url = try #require(
                try await service.list(token: old).jsonArray?.first?["image_url"] as? String
            )
            try await service.requestCode("ada@example.com")
            _ = try await service.mails.code(to: "ada@example.com")
            try await service.requestCode("ada@example.com", for: "reset")
            let code = try await service.mails.code(to: "ada@example.com", number: 2)
            let answer = try await service.recover("Ada@example.com", code: code)
            #expect(answer.status == 200 && answer.headers["cache-control"] == "no-store")
            #expect(
                Set(answer.json.keys) == [
                    "first_name", "last_name", "email", "api_authtoken", "authtoken_expiry", "id",
                ]
            )
            let token = try #require(answer.token)
            #expect(try await service.isAlive(token))
            #expect(try await !service.isAlive(old))
            #expect(try await service.send("GET", url).status == 403)
            #expect(try await service.signIn(email: "ada@example.com").status == 401)
            #expect(try await service.signIn(email: "ada@example.com", password: "another password").status == 200)
            #expect(try await service.me(token)["email_state"] as? String == "verified")
            #expect(try await service.recover("ada@example.com", code: code).isInvalidCode)
            // Codes from before are over, too.
            #expect(try await service.count("SELECT count(*) FROM codes") == 0)
            #expect(
                try await service.count("SELECT count(*) FROM audit_events WHERE event = 'password_recovered'") == 1
            )
        }
    }

    @Test("A new password that breaks a rule is refused before the code is tried")
    func invalidPassword() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            try await service.requestCode("ada@example.com", for: "reset")
            let code = try await service.mails.code(to: "ada@example.com")
            for _ in 0..<6 {
                let answer = try await service.recover("ada@example.com", code: code, password: "short")
                #expect(answer.status == 400 && answer.json["code"] as? String == "password_too_short")
            }
            #expect(try await service.recover("ada@example.com", code: code).status == 200)
        }
    }

    @Test("Of 10 parallel recoveries with one code, one password counts")
    func parallel() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            try await service.requestCode("ada@example.com", for: "reset")
            let code = try await service.mails.code(to: "ada@example.com")
            // Five wrong tries at most are under way: a right one counts until it is used.
            let answers = try await withThrowingTaskGroup(of: (Int, HTTPAnswer).self) { tasks in
                for number in 0..<10 {
                    tasks.addTask {
                        let password = "password \(number)"
                        return (number, try await service.recover("ada@example.com", code: code, password: password))
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.1.status == 200 } == 1)
            #expect(answers.count { $0.1.isInvalidCode } == 9)
            let winner = try #require(answers.first { $0.1.status == 200 }?.0)
            #expect(try await service.signIn(email: "ada@example.com", password: "password \(winner)").status == 200)
        }
    }

    @Test("An account without a password gets its first by a token and a code")
    func firstPassword() async throws {
        try await TestService.run(settings: ["SIGNUP_WITHOUT_PASSWORD": "true"]) { service in
            let token = try await service.makeTokenWithoutPassword()
            try await service.requestCode("ada@example.com", for: "reset")
            let code = try await service.mails.code(to: "ada@example.com", number: 2)
            let parameters = { (password: String, code: String) in
                [("new_password", try TestService.encrypt(password)), ("code", code)]
            }
            let short = try await service.form("/api/set_password", token: token, parameters("short", code))
            #expect(short.json["code"] as? String == "password_too_short")
            let wrong = TestService.wrong(code)
            #expect(
                try await service.form("/api/set_password", token: token, parameters("my password", wrong))
                    .isInvalidCode
            )
            let answer = try await service.form("/api/set_password", token: token, parameters("my password", code))
            #expect(answer.status == 200 && answer.json["api_authtoken"] is NSNull)
            #expect(try await service.isAlive(token))
            #expect(try await service.signIn(email: "ada@example.com").status == 200)
            try await service.requestCode("ada@example.com", for: "reset")
            let next = try await service.mails.code(to: "ada@example.com", number: 3)
            let refused = try await service.form("/api/set_password", token: token, parameters("a password", next))
            #expect(refused.status == 409 && refused.json["code"] as? String == "password_exists")
            #expect(service.subjects(to: "ada@example.com") == ["Your password for Selfie has changed"])
        }
    }

    @Test("A code deletes an account, once")
    func deletion() async throws {
        try await TestService.run(settings: ["SIGNUP_WITHOUT_PASSWORD": "true"]) { service in
            let token = try await service.makeTokenWithoutPassword()
            try await service.requestCode("ada@example.com")
            let code = try await service.mails.code(to: "ada@example.com", number: 2)
            let delete = { (code: String) in
                try await service.sendForm(
                    "DELETE",
                    "/api/account",
                    authorization: tokenHeader(token),
                    [("code", code)]
                )
            }
            #expect(try await delete(TestService.wrong(code)).isInvalidCode)
            #expect(try await service.count("SELECT count(*) FROM users") == 1)
            #expect(try await delete(code).text == #"{"status":200,"message":"Account deleted"}"#)
            #expect(try await service.count("SELECT count(*) FROM users") == 0)
            try await poll("notice") {
                service.subjects(to: "ada@example.com") == ["Your account for Selfie is deleted"]
            }
        }
    }
}
