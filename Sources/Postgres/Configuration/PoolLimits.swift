/// The limits of a pool of connections.
package struct PoolLimits: Sendable {
    /// How many connections are open at most.
    package var maxConnections = 10
    /// How many connections stay open although they were idle for long.
    var minConnections = 1
    /// How many statements of different callers share one connection at most.
    var pipelineDepth = 16
    /// A statement that has run this long is slow.
    ///
    /// Others no longer queue behind it.
    var slowness: Duration = .milliseconds(20)
    /// How many callers may wait for a lease, and how many to share a connection.
    ///
    /// More are refused at once.
    var maxWaiters = 4096
    /// How long a caller waits for a connection.
    package var leaseTimeout: Duration = .seconds(2)
    /// How long a connection may be idle before it is closed.
    package var idleTimeout: Duration = .seconds(60)
    /// How long a connection is used before it is replaced, so that none grows without bound at the server.
    package var lifetime: Duration = .seconds(3600)
    /// The longest pause between two attempts to connect.
    package var maxBackOff: Duration = .seconds(1)

    /// How many connections are leased at most.
    ///
    /// Where there are more than two, one is left for readers to share.
    var maxLeases: Int { maxConnections > 2 ? maxConnections - 1 : maxConnections }

    /// How many connections a pool has at least where limits are divided among several.
    private static let minConnectionsPerPool = 4

    /// Divides the counts among pools: one for each event loop, or fewer where connections are few.
    func divided(amongLoops loopCount: Int) -> [PoolLimits] {
        let count = max(1, min(loopCount, maxConnections / Self.minConnectionsPerPool))
        return (0..<count).map { index in
            func share(of total: Int) -> Int { total / count + (index < total % count ? 1 : 0) }
            var limits = self
            limits.maxConnections = share(of: maxConnections)
            limits.minConnections = share(of: minConnections)
            limits.maxWaiters = share(of: maxWaiters)
            return limits
        }
    }
}
