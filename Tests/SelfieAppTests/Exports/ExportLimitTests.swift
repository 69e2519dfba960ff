import Budgets
import ConnectionTestSupport
import Foundation
import Postgres
import SelfieWeb
import ServerProcesses
import ServiceTestSupport
import TestSupport
import Testing

@testable import SelfieApp

@Suite("How often a user exports", .timeLimit(.minutes(2)))
struct ExportLimitTests {
    private static let limited = ["RATE_LIMITS": "on"]
    private static let large = TestImage.png(bytes: 24 << 20)

    @Test("Once an hour, in all sessions; HEAD does not count")
    func hourly() async throws {
        try await TestService.run(settings: Self.limited) { service in
            let tokens = [try await service.makeToken(), try await service.newToken()]
            let head = try await service.export(tokens[0], method: "HEAD")
            #expect(head.status == 200 && head.body.isEmpty)
            let answer = try await service.export(tokens[0])
            #expect(answer.status == 200)
            for name in ["content-type", "content-disposition", "cache-control"] {
                #expect(head.headers[name] == answer.headers[name], "\(name)")
            }
            for token in tokens {
                let refused = try await service.export(token)
                #expect(refused.status == 429 && refused.code == "too_many_requests")
                let seconds = try #require(refused.headers["retry-after"].flatMap { Int($0) })
                #expect((3_000...3_600).contains(seconds))
                #expect(refused.headers["ratelimit-policy"] == "1;w=3600")
            }
            #expect(try await service.events().filter { $0.hasPrefix("export") } == ["export", "exports_limited"])
            // Another user's count.
            let other = try await service.addSession(name: "bob")
            #expect(try await service.export(other).status == 200)
            try await service.postgres.write("UPDATE rate_limits SET window_ends_at = now() AT TIME ZONE 'UTC'")
            // The refusal is remembered for a second.
            try await poll("the next hour") { try await service.export(tokens[1]).status == 200 }
        }
    }

    @Test("Of parallel requests in one process, one begins and counts")
    func parallel() async throws {
        try await TestService.run(
            settings: Self.limited,
            adjust: {
                $0.waitsPatiently()
                $0.doesNothingByItself()
            }
        ) { service in
            let token = try await service.addSession()
            let statuses = try await withThrowingTaskGroup(of: HTTPAnswer.self) { calls in
                try await service.postgres.withTransaction { connection in
                    try await connection.execute("LOCK TABLE rate_limits")
                    for _ in 0..<2 { calls.addTask { try await service.export(token) } }
                    try await service.waitForLocks(1)
                    let refused = try #require(try await calls.next())
                    #expect(refused.status == 429 && refused.code == "too_many_at_once")
                    #expect(refused.headers["retry-after"] == "2")
                }
                return try await calls.reduce(into: []) { $0.append($1.status) }
            }
            #expect(statuses == [200])
            #expect(try await service.events().filter { $0.hasPrefix("export") } == ["export"])
        }
    }

    @Test("Of parallel requests in two processes, one begins")
    func twoProcesses() async throws {
        try await TwoServices.run(settings: Self.limited, adjust: { $1.doesNothingByItself() }) { services in
            let token = try await services[0].addSession()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { calls in
                try await services[0].postgres.withTransaction { connection in
                    try await connection.execute("LOCK TABLE rate_limits")
                    for service in services { calls.addTask { try await service.export(token).status } }
                    try await services[0].waitForLocks(2)
                }
                return try await calls.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200, 429])
            #expect(
                try await services[0].events().filter { $0.hasPrefix("export") }.sorted() == [
                    "export", "exports_limited",
                ]
            )
        }
    }

    @Test("A user has one at once and a process a few, and each that ends makes room")
    func permits() async throws {
        let exports = Permits<Int>("EXPORTS_AT_ONCE", per: "USER", PermitLimits(total: 2, perHolder: 1))
        try await TestService.run(adjust: { $0.permits.exports = exports }) { service in
            var tokens: [String] = []
            for name in ["ada", "bob", "eve"] {
                tokens.append(try await service.addSession(name: name))
                try await service.addPhotos([("large", Self.large), ("b", TestImage.jpeg)], name: name)
            }
            let all = tokens
            try await ExportReader.open(service, token: all[0]) { first in
                #expect(try await service.export(all[0]).code == "too_many_at_once")
                try await ExportReader.open(service, token: all[1]) { _ in
                    let refused = try await service.export(all[2])
                    #expect(refused.status == 503 && refused.headers["retry-after"] == "5")
                    #expect(exports.inUse == 2)
                }
                try await poll("one that its client left is over") { exports.inUse == 1 }
                #expect(try await service.export(all[2]).status == 200)
                #expect(try await first.readToEnd() != nil)
            }
            try await poll("one that was read is over") { exports.inUse == 0 }
            #expect(try await service.events().filter { $0 == "export" }.count == 3)
        }
    }

    @Test("A process sends eight at once")
    func usualPermits() {
        let limits = WebPermits().exports.limits
        #expect(limits.total == 8 && limits.perHolder == 1)
    }
}
