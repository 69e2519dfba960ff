import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import SelfieApp

@Suite("Periodic work")
struct PeriodicServiceTests {
    private static func group(_ service: PeriodicService) -> ServiceGroup {
        ServiceGroup(configuration: .init(services: [service], logger: TestLog().logger(level: .error)))
    }

    /// Runs a service until the body has seen enough, then shuts it down.
    private static func run(_ service: PeriodicService, until body: () async -> Void) async throws {
        let group = group(service)
        let running = Task { try await group.run() }
        await body()
        await group.triggerGracefulShutdown()
        try await running.value
    }

    @Test("It is done until the shutdown, and the final work once after it")
    func atEnd() async throws {
        let (rounds, round) = AsyncStream.makeStream(of: Void.self)
        let ends = Mutex(0)
        let service = PeriodicService(interval: .milliseconds(1)) {
            #expect(ends.withLock { $0 } == 0)
            round.yield()
        } atEnd: {
            ends.withLock { $0 += 1 }
        }
        try await Self.run(service) {
            var seen = rounds.makeAsyncIterator()
            for _ in 0..<3 { await seen.next() }
            #expect(ends.withLock { $0 } == 0)
        }
        #expect(ends.withLock { $0 } == 1)
    }

    @Test("It is not done at the start, so a process that ends soon does nothing but the final work")
    func start() async throws {
        let counts = Mutex((rounds: 0, ends: 0))
        let service = PeriodicService(interval: .seconds(3600)) {
            counts.withLock { $0.rounds += 1 }
        } atEnd: {
            counts.withLock { $0.ends += 1 }
        }
        // Enough for work that begins at once, and a fraction of the second.
        try await Self.run(service) { for _ in 0..<1_000 { await Task.yield() } }
        #expect(counts.withLock { $0 } == (0, 1))
    }

    @Test("What it throws ends it")
    func failure() async throws {
        struct Failure: Error {}
        let service = PeriodicService(interval: .seconds(3600)) { throw Failure() }
        await #expect(throws: Failure.self) { try await Self.group(service).run() }
    }
}
