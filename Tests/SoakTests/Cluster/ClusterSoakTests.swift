import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("A cluster loses its hosts", .enabled(if: Cluster.isThere, "bin/soak cluster runs it"))
struct ClusterSoakTests {
    private static let userCount = 200
    /// Between two calls of a user.
    private static let pause: Duration = .seconds(4)
    private static let stormPause: Duration = .seconds(2)
    /// How long calls may fail after a loss.
    private static let maxFailing: TimeInterval = 15
    private static let seed: UInt64 = 53

    @Test("Of what was answered, nothing is lost, doubled or shown to others, and nobody misses a change")
    func losses() async throws {
        let cluster = try Cluster()
        let calls = ClusterCalls(edges: Cluster.edges.map { "http://\($0)" })
        let losses = ClusterLosses()
        let witness = ClusterWitness(cluster: cluster)
        try await ClusterEdges.with(cluster) { edges in
            try await edges.any.apply(try TestService.exampleSchema)
            try await witness.prepare(edges.postgres)
            let users = try await [ClusterUser].join(Self.userCount, .all, calls)
            let end = ContinuousClock.now + cluster.duration
            let storm = ChangeStorm(pause: Self.stormPause, minChanges: Int(cluster.duration / .seconds(1)) * 5)
            async let writes = witness.run(until: end)
            async let changed = users.changed { user in try await user.run(until: end, pause: Self.pause) }
            try await storm.run(at: edges) { _ in try await losses.run(cluster, until: end, seed: Self.seed) }
            let changedUsers = try await changed
            try await cluster.command(["restore"])
            try await ClusterLosses.waitUntilWhole(cluster)
            _ = try await changedUsers.changed { user in try await user.expectAll() }
            let committed = try await writes
            let missing = try await ClusterWitness.missing(committed, edges.postgres)
            #expect(missing.isEmpty, "committed at a host, and lost: \(missing)")
            let changes = ClusterWitness.changes(committed)
            #expect(changes <= losses.losses.count, "\(changes) changes of the host that commits")
            #expect(committed.count > Int(cluster.duration / .seconds(5)), "\(committed.count) rows of witnesses")
            print("\(committed.count) rows of witnesses, \(changes) changes of the host that commits")
        }
        Self.expect(calls, ClusterReport(calls.failures, losses.losses))
        Self.expectReroutes(ClusterReport(calls.reroutes, losses.losses))
    }

    /// Only a lost proxy, or a process that ends in the middle of an answer, cuts a client off.
    private static func expectReroutes(_ report: ClusterReport) {
        print("Calls that one proxy did not answer, and the other one was asked:\n\(report.text)")
        #expect(report.early.isEmpty, "\(report.early.prefix(10))")
        for line in report.lines where !["edge", "app"].contains(where: { line.loss.what.contains($0) }) {
            #expect(line.counts.isEmpty, "\(line.loss.what): \(line.counts)")
        }
    }

    private static func expect(_ calls: ClusterCalls, _ report: ClusterReport) {
        print(calls.successes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
        print("\(calls.successes.values.reduce(0, +)) answers, \(calls.failures.count) failed calls")
        print(report.text)
        #expect(calls.violations.isEmpty, "\(calls.violations.count): \(calls.violations.prefix(10))")
        #expect(report.early.isEmpty, "failed without a loss: \(report.early.prefix(10))")
        for line in report.lines {
            #expect(line.lastBegin <= maxFailing, "\(line.loss.what): \(line.lastBegin) s")
            // A process that ends leaves the answer half sent that it was sending.
            let wrong = line.counts.keys.filter { if case .wrong = $0 { true } else { false } }
            #expect(wrong.isEmpty, "\(line.loss.what): \(line.counts)")
        }
    }
}
