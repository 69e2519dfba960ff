import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("The change of an address", .timeLimit(.minutes(2)))
struct EmailChangeTests {
    @Test("A code to the new address confirms it; until then the old one holds, and it is told twice")
    func change() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let begun = try await service.changeEmail(" new@example.com ", token: token)
            #expect(begun.text == #"{"status":200,"message":"Code sent"}"#)
            let code = try await service.mails.code(to: "new@example.com")
            #expect(try await service.signIn(email: "ada@example.com").status == 200)
            #expect(try await service.signIn(email: "new@example.com").status == 401)
            let wrong = TestService.wrong(code)
            #expect(try await service.form("/api/confirm_email", token: token, [("code", wrong)]).isInvalidCode)
            let answer = try await service.form("/api/confirm_email", token: token, [("code", code)])
            #expect(answer.status == 200 && answer.json["email"] as? String == "new@example.com")
            #expect(answer.json["api_authtoken"] is NSNull)
            #expect(try await service.form("/api/confirm_email", token: token, [("code", code)]).isInvalidCode)
            #expect(try await service.isAlive(token))
            #expect(try await service.signIn(email: "new@example.com").status == 200)
            #expect(try await service.signIn(email: "ada@example.com").status == 401)
            #expect(try await service.me(token)["email_state"] as? String == "verified")
            try await poll("notices") {
                service.subjects(to: "ada@example.com") == [
                    "Your address for Selfie is about to change", "This address has no account for Selfie now",
                ]
            }
            #expect(service.subjects(to: "new@example.com").isEmpty)
        }
    }

    @Test("It needs the password or a code for signing in, and a valid address")
    func refusals() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            let wrong = try await service.changeEmail("new@example.com", token: token, password: "wrong password")
            #expect(wrong.status == 401 && wrong.json["code"] as? String == "password_wrong")
            let none = try await service.form("/api/change_email", token: token, [("email", "new@example.com")])
            #expect(none.status == 400 && none.json["parameters"] as? [String] == ["password"])
            // The last two are addresses by the contract's rule, but no mail can go there.
            for email in ["", "nobody", "a@b", "a@b\nc.com", "ä@example.com", "a@-example-.com"] {
                let answer = try await service.changeEmail(email, token: token)
                #expect(answer.status == 400, "\(email)")
            }
            try await service.requestCode("ada@example.com", for: "reset")
            let other = try await service.mails.code(to: "ada@example.com")
            let byOther = [("email", "new@example.com"), ("code", other)]
            #expect(try await service.form("/api/change_email", token: token, byOther).isInvalidCode)
            #expect(try await service.count("SELECT count(*) FROM codes WHERE purpose = 'email'") == 0)
            try await service.requestCode("ada@example.com")
            let code = try await service.mails.code(to: "ada@example.com", number: 2)
            let byCode = [("email", "new@example.com"), ("code", code)]
            #expect(try await service.form("/api/change_email", token: token, byCode).status == 200)
            #expect(try await service.form("/api/change_email", token: token, byCode).isInvalidCode)
            _ = try await service.mails.code(to: "new@example.com")
        }
    }

    @Test("The present address can be verified without ending anything")
    func samePlace() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            try await service.moveEmail(to: "ada@example.com", token: token)
            #expect(try await service.me(token)["email_state"] as? String == "verified")
            #expect(try await service.signIn(email: "ada@example.com").status == 200)
            #expect(service.subjects(to: "ada@example.com").isEmpty)
            #expect(try await service.count("SELECT count(*) FROM former_emails") == 0)
        }
    }

    @Test("An account that has proven an address keeps it, and one that has not loses it")
    func takenAddress() async throws {
        try await TestService.run { service in
            let ada = try await service.makeToken()
            let eve = try await service.makeToken(email: "eve@example.com")
            // Nothing tells that the address has an account.
            #expect(try await service.changeEmail("ada@example.com", token: eve).status == 200)
            let code = try await service.mails.code(to: "ada@example.com")
            try await service.moveEmail(to: "ada@example.com", token: ada)
            let refused = try await service.form("/api/confirm_email", token: eve, [("code", code)])
            #expect(refused.status == 400 && refused.json["code"] as? String == "email_taken")
            #expect(try await service.signIn(email: "eve@example.com").status == 200)

            // Eve's address is not proven, so Ada gets it. Eve keeps the account, without an address.
            try await service.moveEmail(to: "eve@example.com", token: ada)
            #expect(try await service.isAlive(eve))
            let email = try #require(try await service.me(eve)["email"] as? String)
            #expect(email.hasSuffix("@lost.invalid"))
            #expect(try await service.me(eve)["email_state"] as? String == "refuses")
            #expect(try await service.signIn(email: "eve@example.com").status == 200)
            #expect(try await service.me(ada)["email"] as? String == "eve@example.com")
            #expect(try await service.count("SELECT count(*) FROM audit_events WHERE event = 'email_lost'") == 1)
            try await service.moveEmail(to: "other@example.com", token: eve)
        }
    }

    @Test("A thief who changes a proven address can't lock the owner out: the old one takes the account back")
    func takingBack() async throws {
        try await TestService.run { service in
            let owner = try await service.makeToken()
            try await service.moveEmail(to: "ada@example.com", token: owner)
            let thief = try #require(try await service.signIn(email: "ada@example.com").token)
            try await service.moveEmail(to: "thief@example.com", token: thief)
            try await service.moveEmail(to: "thief2@example.com", token: thief)
            try await poll("notice") {
                service.subjects(to: "ada@example.com").contains("Your address for Selfie has changed")
            }
            // Nobody else can take the old address meanwhile.
            let taken = try await service.signUp(email: "ada@example.com")
            #expect(taken.status == 400 && taken.json["code"] as? String == "email_taken")
            // For signing in it is not the account's address any more.
            try await service.requestCode("ada@example.com")
            try await service.requestCode("ada@example.com", for: "reset")
            let code = try await service.mails.code(to: "ada@example.com", number: 2)
            #expect(service.mails.codeCount(to: "ada@example.com") == 2)
            let answer = try await service.recover("ada@example.com", code: code)
            #expect(answer.status == 200 && answer.json["email"] as? String == "ada@example.com")
            #expect(try await !service.isAlive(thief))
            #expect(try await service.me(try #require(answer.token))["email_state"] as? String == "verified")
            // None of the thief's addresses has a right to the account.
            #expect(try await service.count("SELECT count(*) FROM former_emails") == 0)
            for email in ["thief@example.com", "thief2@example.com"] {
                try await service.requestCode(email, for: "reset")
            }
            #expect(try await service.count("SELECT count(*) FROM codes WHERE user_id IS NOT NULL") == 0)
            try await poll("notice") {
                service.subjects(to: "thief2@example.com") == ["This address has no account for Selfie now"]
            }
        }
    }

    @Test("The thief can't end that right, by recovering with any of the other addresses")
    func keptRight() async throws {
        try await TestService.run(settings: ["RATE_LIMIT_CODES_PER_ACCOUNT": "100/1h"]) { service in
            let owner = try await service.makeToken()
            try await service.moveEmail(to: "ada@example.com", token: owner)
            let thief = try #require(try await service.signIn(email: "ada@example.com").token)
            for address in ["b@example.com", "c@example.com"] {
                try await service.moveEmail(to: address, token: thief)
            }
            // By the present address, and then by a former one of the thief's own.
            for address in ["c@example.com", "b@example.com"] {
                let count = service.mails.codeCount(to: address)
                try await service.requestCode(address, for: "reset")
                let code = try await service.mails.code(to: address, number: count + 1)
                #expect(try await service.recover(address, code: code).status == 200)
            }
            try await service.requestCode("ada@example.com", for: "reset")
            let code = try await service.mails.code(to: "ada@example.com", number: 2)
            #expect(try await service.recover("ada@example.com", code: code).status == 200)
            #expect(try await service.count("SELECT count(*) FROM former_emails") == 0)
        }
    }

    @Test("Who has the new address uses up neither codes nor tries of the old one")
    func ownLimits() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            try await service.moveEmail(to: "ada@example.com", token: token)
            try await service.moveEmail(to: "thief@example.com", token: token)
            try await service.requestCode("ada@example.com", for: "reset")
            let code = try await service.mails.code(to: "ada@example.com", number: 2)
            for _ in 0..<2 { try await service.requestCode("thief@example.com", for: "reset") }
            for _ in 0..<21 {
                let answer = try await service.recover("thief@example.com", code: "12345x")
                #expect([401, 429].contains(answer.status))
            }
            let answer = try await service.recover("ada@example.com", code: code)
            #expect(answer.status == 200 && answer.json["email"] as? String == "ada@example.com")
        }
    }

    @Test("A password that is changed while a change of the address waits is asked for again")
    func changedMeanwhile() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            _ = try await service.signUp(email: "grace@example.com", password: "another password")
            let answer = try await service.postgres.withTransaction { connection in
                try await connection.execute(
                    """
                    UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = 'grace@example.com')
                    WHERE email = 'ada@example.com'
                    """
                )
                let change = Task { try await service.changeEmail("new@example.com", token: token) }
                try await poll("the change waits") {
                    try await service.count(
                        """
                        SELECT count(*) FROM pg_stat_activity
                        WHERE wait_event_type = 'Lock' AND datname = current_database()
                        """
                    ) == 1
                }
                return change
            }
            #expect(try await answer.value.json["code"] as? String == "password_wrong")
            #expect(try await service.count("SELECT count(*) FROM codes") == 0)
        }
    }

    @Test("Who has proven an address gets its codes, before one who had it")
    func provenBeforeFormer() async throws {
        try await TestService.run { service in
            let ada = try await service.makeToken()
            try await service.moveEmail(to: "ada@example.com", token: ada)
            try await service.moveEmail(to: "new@example.com", token: ada)
            let grace = try await service.makeToken(email: "grace@example.com")
            try await service.moveEmail(to: "ada@example.com", token: grace)
            try await service.requestCode("ada@example.com", for: "reset")
            let code = try await service.mails.code(to: "ada@example.com", number: 3)
            #expect(try await service.recover("ada@example.com", code: code).status == 200)
            #expect(try await service.isAlive(ada))
            #expect(try await !service.isAlive(grace))
            #expect(try await service.me(ada)["email"] as? String == "new@example.com")
        }
    }

    @Test("A code for an old address goes to that address, whichever way a client spells it")
    func spelling() async throws {
        try await TestService.run { service in
            let old = try await service.makeToken()
            try await service.moveEmail(to: "ada@example.com", token: old)
            try await service.moveEmail(to: "new@example.com", token: old)
            try await service.requestCode(" ADA@Example.COM", for: "reset")
            let code = try await service.mails.code(to: "ada@example.com", number: 2)
            let token = try #require(try await service.recover("aDa@example.com", code: code).token)
            // PostgreSQL may take a letter for another one that a domain does not.
            for domain in ["m\u{130}ne.example", "stra\u{1E9E}e.example", "\u{FF4D}ine.example", "BÜCHER.example"] {
                let answer = try await service.changeEmail("x@\(domain)", token: token, password: "another password")
                #expect(answer.status == 400 && answer.json["code"] as? String == "email_invalid", "\(domain)")
            }
            let answer = try await service.changeEmail("x@Bücher.example", token: token, password: "another password")
            #expect(answer.status == 200)
        }
    }

    @Test("A code to the new address does not work for the old one, nor the other way round")
    func formerCodes() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            try await service.moveEmail(to: "ada@example.com", token: token)
            try await service.moveEmail(to: "new@example.com", token: token)
            try await service.requestCode("new@example.com", for: "reset")
            let code = try await service.mails.code(to: "new@example.com", number: 2)
            #expect(try await service.recover("ada@example.com", code: code).isInvalidCode)
            #expect(try await service.recover("new@example.com", code: code).status == 200)
        }
    }

    @Test("An address that was not proven, or left a week ago, has no right to the account")
    func formerAddresses() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            try await service.moveEmail(to: "new@example.com", token: token)
            #expect(try await service.count("SELECT count(*) FROM former_emails") == 0)
            try await service.moveEmail(to: "third@example.com", token: token)
            let days = """
                SELECT count(*) FROM former_emails
                WHERE ends_at - (now() AT TIME ZONE 'UTC') BETWEEN interval '6 days 23 hours' AND interval '7 days'
                """
            #expect(try await service.count("\(part: .init(stringLiteral: days))") == 1)
            try await service.postgres.write("UPDATE former_emails SET ends_at = now() AT TIME ZONE 'UTC'")
            try await service.requestCode("new@example.com", for: "reset")
            #expect(try await service.count("SELECT count(*) FROM codes WHERE user_id IS NOT NULL") == 0)
            #expect(try await service.signUp(email: "new@example.com").status == 200)
        }
    }

    @Test("A new password stops a change that is not confirmed")
    func stoppedChange() async throws {
        try await TestService.run { service in
            let token = try await service.makeToken()
            #expect(try await service.changeEmail("thief@example.com", token: token).status == 200)
            let code = try await service.mails.code(to: "thief@example.com")
            let changed = try await service.form(
                "/api/reset_password",
                token: token,
                [
                    ("old_password", try TestService.encrypt("my password")),
                    ("new_password", try TestService.encrypt("another password")),
                ]
            )
            let next = try #require(changed.token)
            #expect(try await service.form("/api/confirm_email", token: next, [("code", code)]).isInvalidCode)
            #expect(try await service.me(next)["email"] as? String == "ada@example.com")
        }
    }

    @Test("Two who prove one address at once: one gets it, whichever that is")
    func race() async throws {
        try await TestService.run { service in
            let tokens = [
                try await service.makeToken(), try await service.makeToken(email: "grace@example.com"),
            ]
            var codes: [String] = []
            for (index, token) in tokens.enumerated() {
                #expect(try await service.changeEmail("new@example.com", token: token).status == 200)
                codes.append(try await service.mails.code(to: "new@example.com", number: index + 1))
            }
            let given = codes
            let answers = try await withThrowingTaskGroup(of: HTTPAnswer.self) { tasks in
                for (token, code) in zip(tokens, given) {
                    tasks.addTask { try await service.form("/api/confirm_email", token: token, [("code", code)]) }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.map(\.status).sorted() == [200, 400])
            #expect(answers.contains { $0.json["code"] as? String == "email_taken" })
            let owners = "SELECT count(*) FROM users WHERE email = 'new@example.com' AND email_verified_at IS NOT NULL"
            #expect(try await service.count("\(part: .init(stringLiteral: owners))") == 1)
        }
    }
}
