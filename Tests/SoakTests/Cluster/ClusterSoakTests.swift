import Foundation
import Postgres
import ServiceTestSupport
import Testing

@Suite("A cluster loses its hosts", .enabled(if: Cluster.isThere, "bin/soak cluster runs it"))
struct ClusterSoakTests {
    private static let userCount = 200
    /// Between two calls of a user: the load that leaves two cores some time for fifteen hosts.
    private static let pause: Duration = .seconds(8)
    private static let stormPause: Duration = .seconds(4)
    private static let seed: UInt64 = 53

    @Test("Of what was answered, nothing is lost, doubled or shown to others, and nobody misses a change")
    func losses() async throws {
        let cluster = try Cluster()
        let calls = ClusterCalls(edges: Cluster.edges.map { "http://\($0)" })
        let losses = ClusterLosses()
        let witness = ClusterWitness(cluster: cluster)
        try await ClusterEdges.with(cluster, calls) { edges in
            try await edges.any.apply(try TestService.exampleSchema)
            try await witness.prepare(edges.postgres)
            let users = try await [ClusterUser].join(Self.userCount, .all, calls)
            let end = ContinuousClock.now + cluster.duration
            let storm = ChangeStorm(pause: Self.stormPause, minChanges: Int(cluster.duration / .seconds(1)) * 5)
            async let writes = witness.run(until: end)
            async let changed = users.changed { user in try await user.run(until: end, pause: Self.pause) }
            try await storm.run(at: edges) { _ in
                try await losses.run(cluster, until: end, seed: Self.seed) { calls.violate($0) }
            }
            let changedUsers = try await changed
            try await losses.finish(cluster) { calls.violate($0) }
            _ = try await changedUsers.changed { user in try await user.expectAll() }
            try await Self.expectOnePrimary(try await writes, edges.postgres, losses.losses, in: cluster.duration)
        }
        Self.expect(calls, losses.losses, in: cluster.duration)
    }

    /// What was committed at a host is in the database, and no host commits that is not the primary.
    private static func expectOnePrimary(
        _ writes: [ClusterWitness.Write],
        _ postgres: PostgresClient,
        _ losses: [ClusterLosses.Loss],
        in duration: Duration
    ) async throws {
        let missing = try await ClusterWitness.missing(writes, postgres)
        #expect(missing.isEmpty, "committed at a host, and lost: \(missing)")
        let (changes, maxChanges) = (ClusterWitness.changes(writes), ClusterWitness.maxChanges(losses))
        #expect(changes <= maxChanges, "\(changes) changes of the host that commits")
        #expect(writes.count > Int(duration / .seconds(5)), "\(writes.count) rows of witnesses")
        print("\(writes.count) rows of witnesses, \(changes) changes of the host that commits")
    }

    private static func expect(_ calls: ClusterCalls, _ losses: [ClusterLosses.Loss], in duration: Duration) {
        print(calls.successes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
        print("\(calls.successes.values.reduce(0, +)) answers, \(calls.failures.count) failed calls")
        let failures = ClusterReport(calls.failures, losses)
        print(failures.text)
        let reroutes = ClusterReport(calls.reroutes, losses)
        print("Calls that one proxy did not answer, and the other one was asked:\n\(reroutes.text)")
        #expect(calls.violations.isEmpty, "\(calls.violations.count): \(calls.violations.prefix(10))")
        #expect(failures.problems.isEmpty, "\(failures.problems)")
        #expect(reroutes.rerouteProblems.isEmpty, "\(reroutes.rerouteProblems)")
        let missing = ClusterLosses.missing(losses, in: duration)
        #expect(missing.isEmpty, "never lost: \(missing)")
        let unanswered = ClusterUser.unanswered(calls.successes, in: duration)
        #expect(unanswered.isEmpty, "never answered: \(unanswered)")
    }
}
