import Concurrency
import ConnectionTestSupport
import Foundation
import Postgres
import SelfieAccounts
import ServerProcesses
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing

@testable import SelfieApp
@testable import SelfieCore

@Suite("The queue for hashes", .timeLimit(.minutes(2)))
struct HashFairnessTests {
    private static func from(_ address: String) -> [(String, String)] { [("X-Forwarded-For", address)] }

    /// Runs a body with a service that computes one hash at a time, each once the gate lets it pass.
    private static func run(
        waiting: Int = 6,
        _ body: @Sendable (TestService, ThreadGate, ClockReadings) async throws -> Void
    ) async throws {
        let gate = ThreadGate()
        let readings = ClockReadings()
        gate.open()
        try await TestService.run(
            settings: ["TRUSTED_PROXIES": "1", "RATE_LIMITS": "on"],
            adjust: { service in
                service.waitsPatiently()
                service.computesHashes(threads: 1, through: gate)
                service.passwordHashing.waitingPerNetworkAndThread = waiting
                service.passwordHashing.waitingPerAccountAndThread = 4
                service.passwordHashing.clock = readings
            }
        ) { service in
            defer { gate.open() }
            for name in ["ada", "bob", "cy"] { _ = try await service.signUp(email: "\(name)@example.com") }
            try await service.postgres.write("DELETE FROM rate_limits")
            gate.close()
            gate.forget()
            try await body(service, gate, readings)
        }
    }

    @Test("A flood of right passwords from one network, of any accounts, delays another network by one hash")
    func flood() async throws {
        try await Self.run { service, gate, readings in
            try await withThrowingTaskGroup(of: (String, HTTPAnswer).self) { requests in
                for number in 0..<60 {
                    let name = ["ada", "bob", "cy"][number % 3]
                    requests.addTask {
                        (
                            "flood",
                            try await service.signIn(email: "\(name)@example.com", headers: Self.from("192.0.2.1"))
                        )
                    }
                }
                // One is at work and six wait. All others are refused as too many.
                for _ in 0..<53 {
                    let (_, answer) = try #require(try await requests.next())
                    #expect(answer.status == 429 && answer.headers["retry-after"] == "2")
                }
                let before = readings.count
                requests.addTask {
                    ("other", try await service.signIn(email: "ada@example.com", headers: Self.from("198.51.100.1")))
                }
                requests.addTask {
                    ("new", try await service.signUp(email: "di@example.com", headers: Self.from("2001:db8::1")))
                }
                // Each reads the clock as it joins its line.
                try await poll("both wait") { readings.count == before + 2 }
                var order: [String] = []
                // The gate lets one hash pass at a time.
                for _ in 0..<9 {
                    try await poll("a hash is computed") { gate.heldCount == 1 }
                    gate.letOneGo()
                    let (who, answer) = try #require(try await requests.next())
                    #expect(answer.status == 200, "\(who): \(answer.text)")
                    order.append(who)
                }
                #expect(Set(order.prefix(4)).isSuperset(of: ["other", "new"]), "\(order)")
            }
        }
    }
}

/// Counts how often the line's clock is read.
private final class ClockReadings: MonotonicClock {
    private let reads = Atomic(0)

    var count: Int { reads.load(ordering: .relaxed) }

    let minimumResolution: Duration = .nanoseconds(1)

    var now: ContinuousClock.Instant {
        reads.add(1, ordering: .relaxed)
        return .now
    }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await Task.sleep(until: deadline, tolerance: tolerance, clock: .continuous)
    }
}
