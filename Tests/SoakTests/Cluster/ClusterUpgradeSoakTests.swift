import Foundation
import Synchronization
import Testing

@Suite("A cluster is upgraded under load", .enabled(if: Cluster.nextProgram != nil, "bin/soak upgrade runs it"))
struct ClusterUpgradeSoakTests {
    private final class End: Sendable {
        let isOver = Atomic(false)
    }

    private static let userCount = 50
    /// Between two calls of a user.
    private static let pause: Duration = .milliseconds(500)
    /// Fewer calls during the upgrade would show little.
    private static let minCalls = 500
    /// Before and after the upgrade.
    private static let rest: Duration = .seconds(30)

    @Test("From the last release, without a call that fails")
    func upgrade() async throws {
        let cluster = try Cluster()
        let calls = ClusterCalls(edges: Cluster.edges.map { "http://\($0)" })
        let users = try await [ClusterUser].join(Self.userCount, .railsauth, calls)
        let end = End()
        let upgrade = Task {
            defer { end.isOver.store(true, ordering: .relaxed) }
            try await Task.sleep(for: Self.rest)
            let before = calls.successes.values.reduce(0, +)
            let outcome = try await cluster.command(["upgrade", Cluster.nextProgram ?? ""])
            print(outcome.output)
            #expect(outcome.isSuccess, "\(outcome.output)")
            let count = calls.successes.values.reduce(0, +) - before
            print("\(count) calls were answered during the upgrade")
            // All along, old processes run on the new schema, and then beside new ones.
            #expect(count > Self.minCalls)
            try await Task.sleep(for: Self.rest)
        }
        async let changed = users.changed { user in
            while !end.isOver.load(ordering: .relaxed) {
                try await user.run(until: .now + .seconds(1), pause: Self.pause)
            }
        }
        try await upgrade.value
        _ = try await changed.changed { user in try await user.expectAll() }
        print(calls.successes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
        #expect(calls.failures.isEmpty, "\(calls.failures.count): \(calls.failures.prefix(10))")
        #expect(calls.reroutes.isEmpty, "\(calls.reroutes.count): \(calls.reroutes.prefix(10))")
        #expect(calls.violations.isEmpty, "\(calls.violations.prefix(10))")
    }
}
