import Testing

@testable import Postgres

@Suite("The product's limits")
struct PoolLimitsTests {
    @Test("They are what the pages in docs promise")
    func defaults() throws {
        let configuration = try PostgresConfiguration(url: "postgresql:///db")
        #expect(configuration.connectTimeout == .seconds(2))
        #expect(configuration.statementTimeout == .milliseconds(2_500))
        #expect(PostgresConfiguration.answerGrace == .milliseconds(500))
        #expect(configuration.retryPause == .milliseconds(10))
        let pool = configuration.pool
        #expect(pool.maxConnections == 10 && pool.minConnections == 1)
        #expect(pool.pipelineDepth == 16 && pool.slowness == .milliseconds(20))
        #expect(pool.maxWaiters == 4_096 && pool.leaseTimeout == .seconds(2))
        #expect(pool.idleTimeout == .seconds(60) && pool.lifetime == .seconds(3_600))
        #expect(pool.maxBackOff == .seconds(1))
    }

    @Test(
        "All but one connection is lent, where there are more than two",
        arguments: [(1, 1), (2, 2), (3, 2), (10, 9)]
    )
    func leases(maxConnections: Int, maxLeases: Int) {
        var limits = PoolLimits()
        limits.maxConnections = maxConnections
        #expect(limits.maxLeases == maxLeases)
    }

    @Test(
        "Each event loop has a pool of at least four connections, and together they have as many as there are",
        arguments: [
            (10, 1, [10]), (10, 2, [5, 5]), (10, 8, [5, 5]), (7, 8, [7]), (3, 4, [3]), (1, 4, [1]), (14, 3, [5, 5, 4]),
        ] as [(Int, Int, [Int])]
    )
    func division(maxConnections: Int, loopCount: Int, shares: [Int]) {
        var limits = PoolLimits()
        limits.maxConnections = maxConnections
        let divided = limits.divided(amongLoops: loopCount)
        #expect(divided.map(\.maxConnections) == shares)
        #expect(divided.map(\.maxWaiters).reduce(0, +) == 4_096)
        #expect(divided.map(\.minConnections).reduce(0, +) == 1)
        #expect(divided.allSatisfy { $0.leaseTimeout == .seconds(2) && $0.pipelineDepth == 16 })
    }
}
