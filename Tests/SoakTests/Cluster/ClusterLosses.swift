import Foundation
import Synchronization
import TestSupport

/// What a cluster loses, one thing each minute.
final class ClusterLosses: Sendable {
    struct Loss: Sendable {
        /// As `bin/cluster lose` takes it.
        let what: String
        let time: Date
        /// When everything was in place again; nil if it was not.
        var end: Date?

        /// Whether it is one of a primary, which another host may replace.
        var takesPrimary: Bool { what.contains("primary") }
        var takesEdge: Bool { what.contains("edge") }
        var takesApp: Bool { what.contains("app") }
    }

    /// Each way of losing each kind of host.
    static let all = [
        "primary", "network of primary", "packets of primary", "power of primary", "postgres of primary",
        "patroni of primary", "standby", "packets of standby", "etcd leader", "pool1", "pgbouncer of pool2",
        "power of pool1", "edge1", "haproxy of edge2", "app1", "selfie of app3", "power of app4", "store1",
        "power of store2", "osd of store3",
    ]

    /// A run that lasts as long must have seen all of them.
    static let wholeRun: Duration = .seconds(3600)

    /// How long it is away.
    private static let absence: Duration = .seconds(25)
    /// From one loss to the next, at least.
    private static let interval: Duration = .seconds(60)
    /// How long everything may take to be in place again.
    ///
    /// Ceph copies what a disk has missed. That took nearly three minutes on two busy cores.
    private static let recovery: Duration = .seconds(300)
    private static let pause: Duration = .milliseconds(500)

    private let happened = Mutex<[Loss]>([])

    var losses: [Loss] { happened.withLock { $0 } }

    /// Loses one thing after another, and brings each back, until a time.
    ///
    /// - Parameters:
    ///   - cluster: The hosts.
    ///   - end: When no more is to be lost.
    ///   - seed: Makes the order.
    ///   - violate: Gets what must not be, a sentence each.
    /// - Throws: An error of Foundation's.
    func run(
        _ cluster: Cluster,
        until end: ContinuousClock.Instant,
        seed: UInt64,
        violate: (String) -> Void
    ) async throws {
        var generator = SplitMix64(seed: seed)
        var order: [String] = []
        while true {
            let next = ContinuousClock.now + Self.interval
            guard next < end else { return }
            if order.isEmpty { order = Self.all.shuffled(using: &generator) }
            try await lose(order.removeLast(), cluster, violate)
            try await Task.sleep(until: next)
        }
    }

    /// Expects that everything still runs, and brings back what does not.
    ///
    /// - Parameters:
    ///   - cluster: The hosts.
    ///   - violate: Gets what must not be, a sentence each.
    /// - Throws: An error of Foundation's.
    func finish(_ cluster: Cluster, violate: (String) -> Void) async throws {
        try await Self.expectRest(of: cluster, without: nil, violate)
        _ = try await Self.makeWhole(cluster, violate)
    }

    /// What a run should have lost, and has not.
    ///
    /// - Parameters:
    ///   - losses: What was lost.
    ///   - duration: How long the run was.
    /// - Returns: As `bin/cluster lose` takes it; for a short run only whether there was anything.
    static func missing(_ losses: [Loss], in duration: Duration) -> [String] {
        if duration < wholeRun { return losses.isEmpty ? ["anything"] : [] }
        let happened = Set(losses.map(\.what))
        return all.filter { !happened.contains($0) }
    }

    /// Loses one thing, and brings it back.
    private func lose(_ what: String, _ cluster: Cluster, _ violate: (String) -> Void) async throws {
        let time = Date()
        let outcome = try await cluster.command(["lose"] + what.split(separator: " ").map { String($0) })
        let output = outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
        print("\(Date.now.formatted(.iso8601)) \(output)")
        // Without a primary, for example, there is nothing to lose.
        guard outcome.isSuccess, let lost = LostPart(output) else {
            violate("\(what) could not be lost: \(output)")
            _ = try await Self.makeWhole(cluster, violate)
            return
        }
        happened.withLock { $0.append(Loss(what: what, time: time)) }
        try await Task.sleep(for: Self.absence)
        // What comes back now would hide what has ended by itself.
        try await Self.expectRest(of: cluster, without: lost, violate)
        guard try await Self.makeWhole(cluster, violate) else { return }
        happened.withLock { losses in losses[losses.count - 1].end = Date() }
    }

    /// Expects that all processes run which were not lost.
    private static func expectRest(
        of cluster: Cluster,
        without lost: LostPart?,
        _ violate: (String) -> Void
    ) async throws {
        let status = ClusterStatus(text: try await cluster.command(["status"]).output)
        for problem in status.problems(without: lost) { violate(problem) }
    }

    /// Brings everything back, and waits until a second loss would find everything in place.
    ///
    /// - Returns: Whether it is.
    private static func makeWhole(_ cluster: Cluster, _ violate: (String) -> Void) async throws -> Bool {
        let outcome = try await cluster.command(["restore"])
        if !outcome.isSuccess { violate("nothing could be restored: \(outcome.output)") }
        let deadline = ContinuousClock.now + recovery
        while true {
            let status = ClusterStatus(text: try await cluster.command(["status"]).output)
            if status.isWhole { return true }
            guard ContinuousClock.now < deadline else {
                violate("not whole \(recovery) after it was restored: \(status.text)")
                return false
            }
            try await Task.sleep(for: pause)
        }
    }
}
