import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Many wrong passwords", .timeLimit(.minutes(2)))
struct LockoutTests {
    @Test("Limits hold across services, from one address and from many, and the owner still signs in from home")
    func attack() async throws {
        let settings = ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1"]
        let gates = [ThreadGate(), ThreadGate()]
        try await TwoServices.run(
            settings: settings,
            adjust: { $1.computesHashes(threads: 2, through: gates[$0]) }
        ) { services in
            defer { for gate in gates { gate.open() } }
            let (service, home) = (services[0], [("X-Forwarded-For", "198.51.100.7")])
            for gate in gates { gate.open() }
            #expect(try await service.signUp(email: "ada@example.com", headers: home).status == 200)
            #expect(try await service.signIn(email: "ada@example.com", headers: home).status == 200)
            for gate in gates { gate.close() }

            let statuses = try await withThrowingTaskGroup(of: Int.self) { attempts in
                for number in 0..<60 {
                    let address = number / 2 % 2 == 0 ? "203.0.113.\(number)" : "203.1.1.1"
                    attempts.addTask {
                        try await services[number % 2].signIn(
                            email: number % 3 == 0 ? "ADA@example.com " : "ada@example.com",
                            password: "wrong \(number)",
                            headers: [("X-Forwarded-For", address)]
                        ).status
                    }
                }
                // While not one of the passwords was tried, all others are refused already.
                var statuses: [Int] = []
                for _ in 0..<40 { statuses.append(try #require(try await attempts.next())) }
                #expect(statuses == Array(repeating: 429, count: 40))
                for gate in gates { gate.open() }
                return try await attempts.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 401, count: 20))

            for service in services {
                #expect(try await service.signIn(email: "ada@example.com", headers: home).status == 200)
                let elsewhere = [("X-Forwarded-For", "198.51.100.8")]
                #expect(try await service.signIn(email: "ada@example.com", headers: elsewhere).status == 429)
            }
            let events = { (name: String) in
                try await service.count("SELECT count(*) FROM audit_events WHERE event = \(name)")
            }
            #expect(try await events("sign_in_limited") == 1)
            // Where the owner is known, wrong passwords count too, for that place alone.
            for number in 0..<24 {
                let answer = try await services[number % 2].signIn(
                    email: "ada@example.com",
                    password: "wrong",
                    headers: home
                )
                #expect(answer.status == (number < 20 ? 401 : 429))
            }
            #expect(try await events("sign_in_limited") == 2)
            #expect(try await events("sign_in_failed") == 40)
        }
    }

    @Test("From one address many accounts can't be tried, whether or not they exist")
    func oneAddress() async throws {
        let settings = ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_SIGNIN_PER_ADDRESS": "20/1h"]
        try await TestService.run(settings: settings) { service in
            let home = [("X-Forwarded-For", "198.51.100.7")]
            #expect(try await service.signUp(email: "ada@example.com", headers: home).status == 200)
            for number in 0..<24 {
                let answer = try await service.signIn(
                    email: number % 12 == 0 ? "ada@example.com" : "nobody\(number)@example.com",
                    password: "wrong password",
                    headers: [("X-Forwarded-For", "2001:db8::\(number)")]
                )
                #expect(answer.status == (number < 20 ? 401 : 429))
            }
            #expect(try await service.signIn(email: "ada@example.com", headers: home).status == 200)
        }
    }

    @Test("An address that is refused does not use up what an account has")
    func refusedAddress() async throws {
        let settings = [
            "RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_SIGNIN_PER_ADDRESS": "2/1h",
            "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "3/1h",
        ]
        try await TestService.run(settings: settings) { service in
            let tries = ["a", "a", "a", "a", "a", "a", "b", "b", "c"].map {
                $0 == "a" ? "192.0.2.1" : $0 == "b" ? "192.0.2.2" : "192.0.2.3"
            }
            var statuses: [Int] = []
            for address in tries {
                let answer = try await service.signIn(
                    email: "nobody@example.com",
                    headers: [("X-Forwarded-For", address)]
                )
                statuses.append(answer.status)
            }
            #expect(statuses == [401, 401, 429, 429, 429, 429, 401, 429, 429])
        }
    }

    @Test("An account that is refused does not use up what an address has")
    func refusedAccount() async throws {
        let settings = [
            "RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_SIGNIN_PER_ADDRESS": "3/1h",
            "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "2/1h",
        ]
        try await TestService.run(settings: settings) { service in
            let signIn = { (email: String, address: String) in
                try await service.signIn(email: email, headers: [("X-Forwarded-For", address)]).status
            }
            _ = try await service.signUp(email: "ada@example.com", headers: [("X-Forwarded-For", "198.51.100.7")])
            for number in 0..<4 {
                for _ in 0..<2 { #expect(try await signIn("nobody\(number)@example.com", "192.0.2.\(number)") == 401) }
            }
            for number in 0..<4 { #expect(try await signIn("nobody\(number)@example.com", "203.0.113.1") == 429) }
            #expect(try await signIn("ada@example.com", "203.0.113.1") == 200)
        }
    }

    @Test("A user who changes the password at a new address is known there, and not locked out from elsewhere")
    func reset() async throws {
        let settings = ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "2/1h"]
        try await TestService.run(settings: settings) { service in
            let (home, away) = ([("X-Forwarded-For", "198.51.100.7")], [("X-Forwarded-For", "198.51.100.8")])
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            let signIn = try await service.signIn(email: "ada@example.com", headers: home)
            let token = try #require(signIn.json["api_authtoken"] as? String)
            let (old, new) = (try TestService.encrypt("my password"), try TestService.encrypt("new password"))
            let reset = try await service.sendForm(
                "POST",
                "/api/reset_password",
                authorization: tokenHeader(token),
                [("old_password", old), ("new_password", new)],
                headers: away
            )
            #expect(reset.status == 200)
            for status in [401, 401, 429] {
                let elsewhere = [("X-Forwarded-For", "203.0.113.1")]
                #expect(try await service.signIn(email: "ada@example.com", headers: elsewhere).status == status)
            }
            for (headers, status) in [(away, 200), (home, 429)] {
                let answer = try await service.signIn(
                    email: "ada@example.com",
                    password: "new password",
                    headers: headers
                )
                #expect(answer.status == status)
            }
        }
    }

    @Test("Right passwords lock no user out, however many are parallel", arguments: [1, 2, 4])
    func rightOnes(limit: Int) async throws {
        let settings = ["RATE_LIMITS": "on", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "\(limit)/1h"]
        let gate = ThreadGate()
        gate.open()
        try await TestService.run(
            settings: settings,
            adjust: { service in
                service.waitsPatiently()
                service.computesHashes(threads: 1, through: gate)
            }
        ) { service in
            defer { gate.open() }
            _ = try await service.signUp(email: "ada@example.com")
            gate.close()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { signIns in
                for _ in 0..<24 { signIns.addTask { try await service.signIn(email: "ada@example.com").status } }
                // Until it was tried each counts as wrong.
                for _ in 0..<(24 - limit) { #expect(try await signIns.next() == 429) }
                gate.open()
                return try await signIns.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: limit))
            for _ in 0..<6 { #expect(try await service.signIn(email: "ada@example.com").status == 200) }
        }
    }

    @Test("A flood that prevents checks of passwords locks no user out: passwords not checked do not count")
    func overload() async throws {
        let settings = ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "2/1h"]
        let gate = ThreadGate()
        gate.open()
        try await TestService.run(
            settings: settings,
            adjust: { service in
                service.waitsPatiently()
                service.computesHashes(threads: 1, permitsPerThread: 1, through: gate)
            }
        ) { service in
            defer { gate.open() }
            let home = [("X-Forwarded-For", "198.51.100.7")]
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            let token = try TestService.token(of: try await service.signIn(email: "ada@example.com", headers: home))
            gate.close()
            async let other = service.signIn(
                email: "nobody@example.com",
                headers: [("X-Forwarded-For", "203.0.113.1")]
            )
            try await poll("the only place is taken") { gate.heldCount == 1 }
            let rows = try await service.count("SELECT count(*) FROM rate_limits")
            for _ in 0..<6 {
                #expect(try await service.signIn(email: "ada@example.com", headers: home).status == 503)
            }
            let password = try TestService.encrypt("my password")
            for (request, names) in [
                ("POST /api/reset_password", ["old_password", "new_password"]), ("DELETE /api/account", ["password"]),
            ] {
                let payload = Scenario.Payload.form(names.map { ($0, password) })
                try await service.check(
                    Scenario(request, request, authorization: tokenHeader(token), payload, status: 503)
                )
            }
            // What is refused for want of room is not even counted, so that it costs the database nothing.
            #expect(try await service.count("SELECT count(*) FROM rate_limits") == rows)
            gate.open()
            #expect(try await other.status == 401)
            for status in [401, 401, 429] {
                let answer = try await service.signIn(email: "ada@example.com", password: "wrong", headers: home)
                #expect(answer.status == status)
            }
        }
    }

    @Test("An unknown e-mail counts as one account, in capitals and with spaces too")
    func spellings() async throws {
        let settings = ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "3/1h"]
        try await TestService.run(settings: settings) { service in
            _ = try await service.signUp(email: "Ada@example.com", headers: [("X-Forwarded-For", "198.51.100.7")])
            for name in ["ada", "nobody"] {
                let spellings = ["\(name)@example.com", "\(name.uppercased())@EXAMPLE.com", " \(name)@Example.com\n"]
                for (number, email) in (spellings + [spellings[1], spellings[0]]).enumerated() {
                    let answer = try await service.signIn(
                        email: email,
                        password: "wrong password",
                        headers: [("X-Forwarded-For", "203.0.113.\(number)")]
                    )
                    #expect(answer.status == (number < 3 ? 401 : 429), "\(email)")
                }
                let other = try await service.signIn(email: "x\(name)@example.com")
                #expect(other.status == 401)
            }
        }
    }
}
