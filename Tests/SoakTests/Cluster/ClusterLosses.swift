import Foundation
import Synchronization
import TestSupport

/// What a cluster loses, one thing each minute.
final class ClusterLosses: Sendable {
    struct Loss: Sendable {
        /// As `bin/cluster lose` takes it.
        let what: String
        let time: Date
    }

    /// Each way of losing each kind of host.
    static let all = [
        "primary", "network of primary", "packets of primary", "power of primary", "postgres of primary",
        "patroni of primary", "standby", "packets of standby", "etcd leader", "pool1", "pgbouncer of pool2",
        "power of pool1", "edge1", "haproxy of edge2", "app1", "selfie of app3", "power of app4", "store1",
        "power of store2", "osd of store3",
    ]

    /// How long it is away.
    private static let absence: Duration = .seconds(25)
    /// From one loss to the next, at least.
    private static let interval: Duration = .seconds(60)

    private let happened = Mutex<[Loss]>([])

    var losses: [Loss] { happened.withLock { $0 } }

    /// Loses one thing after another, and brings each back, until a time.
    func run(_ cluster: Cluster, until end: ContinuousClock.Instant, seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        var order: [String] = []
        while true {
            let next = ContinuousClock.now + Self.interval
            guard next < end else { return }
            if order.isEmpty { order = Self.all.shuffled(using: &generator) }
            let what = order.removeLast()
            happened.withLock { $0.append(Loss(what: what, time: Date())) }
            let outcome = try await cluster.command(["lose"] + what.split(separator: " ").map { String($0) })
            print("\(Date.now.formatted(.iso8601)) \(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines))")
            try await Task.sleep(for: Self.absence)
            try await cluster.command(["restore"])
            try await Self.waitUntilWhole(cluster)
            try await Task.sleep(until: next)
        }
    }

    /// Waits until a second loss would find everything in place.
    static func waitUntilWhole(_ cluster: Cluster) async throws {
        for _ in 0..<120 {
            let status = try await cluster.command(["status"]).output
            if isWhole(status) { return }
            try await Task.sleep(for: .milliseconds(500))
        }
        print("NOT WHOLE after a minute: \(try await cluster.command(["status"]).output)")
    }

    /// Reads the output of `bin/cluster status`.
    static func isWhole(_ status: String) -> Bool {
        let lines = status.split(separator: "\n")
        func count(_ text: String) -> Int { lines.count { $0.contains(text) } }
        return count(" leader running") == 1 && count(" sync_standby ") == 1
            && count(" streaming ") + count("standby running") + count("replica running") == 2
            && count("DOES NOT RUN") == 0 && count("no answer") == 0 && count(#""ready":false"#) == 0
            && !status.contains("degraded") && !status.contains("peering") && !status.contains("osd down")
            && !status.contains("osds down") && !status.contains("no monitor answers")
    }
}
