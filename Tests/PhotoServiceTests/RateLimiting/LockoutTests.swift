import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("A thousand wrong passwords", .timeLimit(.minutes(5)))
struct LockoutTests {
    private static let attemptsPerAddress = 500

    @Test("Limits hold across processes, from one address and from many, and the owner still signs in from home")
    func attack() async throws {
        let settings = ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1"]
        try await ServedSelfie.run(settings: settings) { first in
            let (service, home) = (first.service, [("X-Forwarded-For", "198.51.100.7")])
            let second = try await ServedSelfie.start(
                databaseURL: service.databaseURL,
                objects: service.objects,
                settings: settings,
                postgres: service.postgres
            )
            let services = [service, second.service]
            #expect(try await service.signUp(email: "ada@example.com", headers: home).status == 200)
            #expect(try await service.signIn(email: "ada@example.com", headers: home).status == 200)

            let statuses = try await withThrowingTaskGroup(of: (Bool, Int).self) { attempts in
                for number in 0..<(2 * Self.attemptsPerAddress) {
                    let isFromMany = number % 2 == 0
                    let address = isFromMany ? "203.0.\(number / 200).\(number % 200)" : "203.1.1.1"
                    attempts.addTask {
                        let answer = try await services[number / 2 % 2].signIn(
                            email: number % 3 == 0 ? "ADA@example.com " : "ada@example.com",
                            password: "wrong \(number)",
                            headers: [("X-Forwarded-For", address)]
                        )
                        return (isFromMany, answer.status)
                    }
                }
                return try await attempts.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count == 2 * Self.attemptsPerAddress)
            // A service that is too busy to try one, or to note that it did, says so.
            let tried = statuses.count { $0.1 == 401 }
            #expect((15...20).contains(tried))
            #expect(statuses.allSatisfy { [401, 429, 503].contains($0.1) })
            #expect(statuses.count { $0.1 == 429 } >= 900)

            for service in services {
                #expect(try await service.signIn(email: "ada@example.com", headers: home).status == 200)
                let elsewhere = [("X-Forwarded-For", "198.51.100.8")]
                #expect(try await service.signIn(email: "ada@example.com", headers: elsewhere).status == 429)
            }
            // Where the owner is known, wrong passwords count too, for that place alone.
            for number in 0..<24 {
                let answer = try await services[number % 2].signIn(
                    email: "ada@example.com",
                    password: "wrong",
                    headers: home
                )
                #expect(answer.status == (number < 20 ? 401 : 429))
            }
            let limited = "SELECT count(*) FROM audit_events WHERE event = 'sign_in_limited'" as PostgresQuery
            let count = try await service.count(limited)
            #expect((1...3).contains(count), "once for each window, not for each try: \(count)")
            let failed = try await service.count("SELECT count(*) FROM audit_events WHERE event = 'sign_in_failed'")
            #expect((tried + 20...40).contains(failed))
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

    @Test("Who changes the password at a new place is known there, and not locked out from elsewhere")
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

    @Test("Right passwords lock nobody out, however many come at once", arguments: [1, 2, 4])
    func rightOnes(limit: Int) async throws {
        let settings = ["RATE_LIMITS": "on", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "\(limit)/1h"]
        try await TestService.run(settings: settings) { service in
            _ = try await service.signUp(email: "ada@example.com")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { signIns in
                for _ in 0..<24 { signIns.addTask { try await service.signIn(email: "ada@example.com").status } }
                return try await signIns.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(statuses).isSubset(of: [200, 429]))
            #expect(statuses.count { $0 == 200 } >= limit)
            // A refusal is remembered for a moment.
            try await poll("there is room") { try await service.signIn(email: "ada@example.com").status == 200 }
            for _ in 0..<3 { #expect(try await service.signIn(email: "ada@example.com").status == 200) }
        }
    }

    @Test("A flood that keeps passwords from being tried locks nobody out, since what was not tried is not counted")
    func overload() async throws {
        let settings = [
            "RATE_LIMITS": "on", "TRUSTED_PROXIES": "1", "RATE_LIMIT_SIGNIN_PER_ACCOUNT": "2/1h",
            "RATE_LIMIT_SIGNIN_PER_ADDRESS": "1000000/1h",
        ]
        try await ServedSelfie.run(settings: settings) { served in
            let (service, home) = (served.service, [("X-Forwarded-For", "198.51.100.7")])
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            var sent = 0
            let refusals = try await withThrowingTaskGroup(of: Int.self) { flood in
                for number in 0..<120 {
                    flood.addTask {
                        var round = 0
                        while !Task.isCancelled {
                            round += 1
                            _ = try? await service.signIn(
                                email: "nobody\(number).\(round)@example.com",
                                headers: [("X-Forwarded-For", "203.0.113.1")]
                            )
                        }
                        return round
                    }
                }
                defer { flood.cancelAll() }
                var refusals = 0
                let deadline = ContinuousClock.now + .seconds(60)
                while refusals < 6, ContinuousClock.now < deadline {
                    let answer = try await service.signIn(email: "ada@example.com", headers: home)
                    #expect([200, 503].contains(answer.status))
                    if answer.status == 503 { refusals += 1 }
                }
                flood.cancelAll()
                sent = try await flood.reduce(0, +)
                return refusals
            }
            #expect(refusals == 6)
            // What is refused for want of room is not even counted, so that it costs the database nothing.
            let counted = try await service.count("SELECT count(*) FROM rate_limits")
            #expect(counted * 2 < sent, "\(counted) of \(sent)")
            try await poll("the flood is over") {
                try await service.signIn(email: "ada@example.com", headers: home).status != 503
            }
            #expect(try await service.signIn(email: "ada@example.com", headers: home).status == 200)
        }
    }
}
