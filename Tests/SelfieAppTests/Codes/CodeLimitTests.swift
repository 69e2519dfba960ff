import ConnectionTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("Limits of codes", .timeLimit(.minutes(2)))
struct CodeLimitTests {
    @Test("Five wrong tries from elsewhere end a code there, and not where the account is known")
    func tries() async throws {
        try await TestService.run(settings: TestService.behindProxy) { service in
            let home = from("198.51.100.7")
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            try await service.requestCode("ada@example.com", for: "signin", home)
            let code = try await service.mails.code(to: "ada@example.com")
            let wrong = TestService.wrong(code)
            for number in 0..<5 {
                let answer = try await service.signIn("ada@example.com", code: wrong, from("203.0.113.\(number)"))
                #expect(answer.isInvalidCode)
            }
            #expect(try await service.signIn("ada@example.com", code: code, from("203.0.113.9")).isInvalidCode)
            for _ in 0..<4 {
                #expect(try await service.signIn("ada@example.com", code: wrong, home).isInvalidCode)
            }
            #expect(try await service.signIn("ada@example.com", code: code, home).status == 200)
        }
    }

    @Test("Five wrong tries from home end the code there, too")
    func triesFromHome() async throws {
        try await TestService.run(settings: TestService.behindProxy) { service in
            let home = from("198.51.100.7")
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            try await service.requestCode("ada@example.com", for: "signin", home)
            let code = try await service.mails.code(to: "ada@example.com")
            for _ in 0..<5 {
                #expect(
                    try await service.signIn("ada@example.com", code: TestService.wrong(code), home).isInvalidCode
                )
            }
            #expect(try await service.signIn("ada@example.com", code: code, home).isInvalidCode)
            try await service.requestCode("ada@example.com", for: "signin", home)
            let next = try await service.mails.code(to: "ada@example.com", number: 2)
            #expect(try await service.signIn("ada@example.com", code: next, home).status == 200)
        }
    }

    @Test("Twenty wrong tries a day are answered, also without other limits, and the owner gets in from home")
    func triesOfADay() async throws {
        try await TestService.run(settings: TestService.behindProxy) { service in
            let home = from("198.51.100.7")
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            for email in ["ada@example.com", "nobody@example.com"] {
                for number in 0..<20 {
                    let answer = try await service.signIn(email, code: "12345x", from("203.0.113.\(number)"))
                    #expect(answer.isInvalidCode)
                }
                let refused = try await service.signIn(email, code: "12345x", from("203.0.113.99"))
                let seconds = try #require(Int(refused.headers["retry-after"] ?? ""))
                #expect(refused.status == 429 && (86_000...86_400).contains(seconds))
                // It is the same for a new password.
                #expect(try await service.recover(email, code: "12345x", from("203.0.113.98")).status == 429)
            }
            try await service.requestCode("ada@example.com", for: "signin", home)
            let code = try await service.mails.code(to: "ada@example.com")
            #expect(try await service.signIn("ada@example.com", code: code, from("203.0.113.97")).status == 429)
            #expect(try await service.signIn("ada@example.com", code: code, home).status == 200)
            let events = "SELECT count(*) FROM audit_events WHERE user_id IS NOT NULL AND event = "
            #expect(try await service.count("\(part: .init(stringLiteral: events)) 'codes_limited'") == 1)
            #expect(try await service.count("\(part: .init(stringLiteral: events)) 'code_failed'") == 20)
        }
    }

    @Test("A right code takes back what it counted")
    func rightCodes() async throws {
        try await TestService.run(
            settings: TestService.behindProxy.merging(["RATE_LIMIT_CODES_PER_ACCOUNT": "100/1h"]) { $1 }
        ) { service in
            _ = try await service.signUp(email: "ada@example.com", headers: from("198.51.100.7"))
            for number in 1...22 {
                let place = from("203.0.113.\(number)")
                try await service.requestCode("ada@example.com", for: "signin", place)
                let code = try await service.mails.code(to: "ada@example.com", number: number)
                #expect(try await service.signIn("ada@example.com", code: code, place).status == 200)
            }
        }
    }

    @Test("Strangers can't keep the owner from a code at home")
    func requests() async throws {
        try await TestService.run(settings: TestService.behindProxy) { service in
            let home = from("198.51.100.7")
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            for number in 0..<4 {
                let answer = try await service.askForCode(
                    "ada@example.com",
                    for: number % 2 == 0 ? "signin" : "reset",
                    from("203.0.113.\(number)")
                )
                #expect(answer.status == (number < 3 ? 200 : 429))
            }
            for number in 0..<4 {
                let answer = try await service.askForCode("ada@example.com", for: "reset", home)
                #expect(answer.status == (number < 3 ? 200 : 429))
            }
        }
    }

    @Test("All known networks share one count, and no spelling of an address has its own")
    func spellings() async throws {
        try await TestService.run(settings: TestService.behindProxy) { service in
            let homes = [from("198.51.100.7"), from("198.51.100.8")]
            _ = try await service.signUp(email: "ada@example.com", headers: homes[0])
            #expect(try await service.signIn(email: "ada@example.com", headers: homes[1]).status == 200)
            for number in 0..<4 {
                let answer = try await service.askForCode("ada@example.com", for: "reset", homes[number % 2])
                #expect(answer.status == (number < 3 ? 200 : 429))
            }
            let spellings = [
                "eve@bücher.example", "eve@xn--bcher-kva.example", #""eve"@bücher.example"#, "EVE@bücher.example",
            ]
            for (number, email) in spellings.enumerated() {
                #expect(try await service.askForCode(email).status == (number < 3 ? 200 : 429), "\(email)")
            }
        }
    }

    @Test("A right code that can't be used yet is tried again as often as needed")
    func rightButNotUsed() async throws {
        try await TestService.run { service in
            _ = try await service.signUp(email: "ada@example.com")
            try await service.requestCode("ada@example.com")
            let code = try await service.mails.code(to: "ada@example.com")
            let target = "/api/get_token?email=ada@example.com&code=\(code)"
            for _ in 0..<8 {
                let answer = try await service.send("HEAD", target, headers: [("Authorization", TestService.basic)])
                #expect(answer.status == 200)
            }
            // A token's tries are none of a sign-in's.
            let token = try await service.makeToken(email: "grace@example.com")
            let ada = try #require(try await service.signIn(email: "ada@example.com").token)
            for number in 0..<6 {
                let answer = try await service.form(
                    "/api/change_email",
                    token: ada,
                    [("email", "new@example.com"), ("code", "12345\(number)x")]
                )
                #expect(answer.isInvalidCode)
            }
            #expect(try await service.isAlive(token))
            #expect(try await service.signIn("ada@example.com", code: code).status == 200)
        }
    }

    @Test("From one network only some codes can be asked for")
    func network() async throws {
        let settings = TestService.behindProxy.merging(
            ["RATE_LIMITS": "on", "RATE_LIMIT_CODES_PER_ADDRESS": "5/1h"]
        ) { $1 }
        try await TestService.run(settings: settings) { service in
            for number in 0..<6 {
                let answer = try await service.askForCode(
                    "nobody\(number)@example.com",
                    for: "reset",
                    from("2001:db8::\(number)")
                )
                #expect(answer.status == (number < 5 ? 200 : 429))
            }
            #expect(try await service.count("SELECT count(*) FROM codes") == 5)
            // A refused account gives back what its network counted.
            for number in 0..<8 {
                let answer = try await service.askForCode("one@example.com", for: "reset", from("203.0.113.1"))
                #expect(answer.status == (number < 3 ? 200 : 429))
            }
            #expect(
                try await service.askForCode("two@example.com", for: "reset", from("203.0.113.1")).status == 200
            )
        }
    }

    @Test("Codes to a new address are counted for the user and for the address")
    func newAddresses() async throws {
        try await TestService.run { service in
            let tokens = [
                try await service.makeToken(), try await service.makeToken(email: "grace@example.com"),
            ]
            for number in 0..<4 {
                let answer = try await service.changeEmail("new\(number)@example.com", token: tokens[0])
                #expect(answer.status == (number < 3 ? 200 : 429))
            }
            for number in 0..<2 {
                #expect(try await service.changeEmail("victim@example.com", token: tokens[1]).status == 200)
                #expect(try await service.askForCode("victim@example.com").status == (number == 0 ? 200 : 429))
            }
            #expect(try await service.changeEmail("ada@example.com", token: tokens[1]).status == 200)
            #expect(try await service.changeEmail("ada@example.com", token: tokens[1]).status == 429)
        }
    }
}
