import ConnectionTestSupport
import Foundation
import Postgres
import ServerProcesses
import ServiceTestSupport
import Testing

@Suite("A thousand wrong passwords", .serialized, .timeLimit(.minutes(10)))
struct LockoutStormTests {
    private static let attemptsPerAddress = 500
    private static let limited = ["RATE_LIMITS": "on", "TRUSTED_PROXIES": "1"]

    @Test("Limits hold across processes, from one address and from many, and the owner still signs in from home")
    func attack() async throws {
        try await ServedSelfie.run(settings: Self.limited) { first in
            let (service, home) = (first.service, [("X-Forwarded-For", "198.51.100.7")])
            let second = try await ServedSelfie.start(
                databaseURL: service.databaseURL,
                objects: service.objects,
                settings: Self.limited,
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
            #expect((1...20).contains(tried))
            #expect(statuses.allSatisfy { [401, 429, 503].contains($0.1) })
            #expect(statuses.contains { $0.1 == 429 })

            for service in services {
                #expect(try await service.signIn(email: "ada@example.com", headers: home).status == 200)
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

    @Test("A flood from one network stops no sign-in from elsewhere, and its unchecked passwords do not count")
    func overload() async throws {
        var settings = Self.limited
        settings["RATE_LIMIT_SIGNIN_PER_ACCOUNT"] = "2/1h"
        settings["RATE_LIMIT_SIGNIN_PER_ADDRESS"] = "1000000/1h"
        // More than there is room for, however many cores there are.
        let floodCount = 60 * max(2, ProcessInfo.processInfo.activeProcessorCount)
        try await ServedSelfie.run(settings: settings) { served in
            let (service, home) = (served.service, [("X-Forwarded-For", "198.51.100.7")])
            _ = try await service.signUp(email: "ada@example.com", headers: home)
            let sent = try await withThrowingTaskGroup(of: Int.self) { flood in
                for number in 0..<floodCount {
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
                for _ in 0..<20 {
                    #expect(try await service.signIn(email: "ada@example.com", headers: home).status == 200)
                }
                flood.cancelAll()
                return try await flood.reduce(0, +)
            }
            // What is refused for want of room is not even counted, so that it costs the database nothing.
            let counted = try await service.count("SELECT count(*) FROM rate_limits")
            #expect(counted * 2 < sent, "\(counted) of \(sent)")
        }
    }
}
