import DatabaseTestSupport
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@Suite("Standbys under load", .serialized, .timeLimit(.minutes(20)))
struct StandbySoakTests {
    /// Two processes of a service that read from a standby.
    private static func run(
        delayedBy delay: Duration,
        _ body: @Sendable ([StandbyService], Standby) async throws -> Void
    ) async throws {
        try await OwnCluster.use { cluster in
            try await cluster.withStandby(delayedBy: delay) { standby in
                try await StandbyService.run(cluster, standby) { first in
                    try await StandbyService.run(cluster, standby) { second in
                        try await first.service.apply(try TestService.exampleSchema)
                        try await body([first, second], standby)
                    }
                }
            }
        }
    }

    private static func standbyReads(_ services: [StandbyService]) async throws -> [String: Int] {
        var sum: [String: Int] = [:]
        for service in services { sum.merge(try await service.standbyReads()) { $0 + $1 } }
        return sum
    }

    @Test("Of 100,000 reads of own writes, none is stale while the standby is five seconds behind")
    func ownWrites() async throws {
        try await Self.run(delayedBy: .seconds(5)) { services, _ in
            let crowd = try await StandbyCrowd(userCount: 400, at: services.map(\.service))
            try await crowd.visit(clients: 16, maxReads: 100_000)
            let (counts, reads) = (crowd.counts, try await Self.standbyReads(services))
            print(counts, reads)
            #expect(counts.wrong == 0)
            #expect(counts.readsAtOnce > 15_000)
            // Some have more than one statement, and those of cached lists have none.
            #expect(reads["answered"] ?? 0 > 40_000)
            #expect(reads["behind"] ?? 0 > 10_000)
            // PostgreSQL cancels a read that uses a page when a standby that is behind has to clean it up. The primary is asked then.
            #expect(reads["failed"] ?? 0 < 100)
            for service in services {
                #expect(!service.service.log.entries.contains { $0.contains("status=5") })
            }
        }
    }

    @Test("A standby that is killed, and one that hangs, cost no error, and are read from again when they are back")
    func ends() async throws {
        try await Self.run(delayedBy: .zero) { services, standby in
            let crowd = try await StandbyCrowd(userCount: 40, at: services.map(\.service))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await crowd.visit(clients: 8) }
                tasks.addTask {
                    defer { crowd.end() }
                    for round in 1...3 {
                        for service in services { try await service.waitUntilStandbyAnswers() }
                        try await standby.killHard()
                        try await Task.sleep(for: .seconds(4))
                        print("round \(round), killed:", crowd.counts, try await Self.standbyReads(services))
                        try await standby.start()
                        for service in services { try await service.waitUntilStandbyAnswers() }
                        try await standby.suspend()
                        try await Task.sleep(for: .seconds(12))
                        print("round \(round), halted:", crowd.counts, try await Self.standbyReads(services))
                        standby.resume()
                    }
                    for service in services { try await service.waitUntilStandbyAnswers() }
                }
                try await tasks.waitForAll()
            }
            let (counts, reads) = (crowd.counts, try await Self.standbyReads(services))
            print(counts, reads)
            #expect(counts.wrong == 0)
            #expect(counts.reads > 5_000)
            #expect(reads["failed"] ?? 0 > 0 && reads["skipped"] ?? 0 > 0)
            // A statement that hangs is given up after three seconds.
            #expect(counts.longest < .seconds(10))
            for service in services {
                #expect(!service.service.log.entries.contains { $0.contains("status=5") })
            }
        }
    }
}
