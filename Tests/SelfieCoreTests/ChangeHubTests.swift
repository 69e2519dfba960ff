import Budgets
import DatabaseTestSupport
import Postgres
import ServerProcesses
import Testing

@testable import SelfieCore

@Suite("Readers of changes in a process", .timeLimit(.minutes(1)))
struct ChangeHubTests {
    @Test("Users take turns at reading, whatever the number of their readers", arguments: [false, true])
    func turns(looksUp: Bool) async throws {
        try await TestCluster.withClient(try await TestCluster.scratchDatabase()) { postgres in
            let hub = FollowChanges(postgres: postgres).hub
            let line = looksUp ? hub.lookups : hub.readings
            var held: [Place] = []
            for _ in 0..<(looksUp ? 64 : 2) { held.append(try await hub.turn(of: 1, looksUp: looksUp)) }
            let (order, turns) = AsyncStream.makeStream(of: Int.self)
            let users = [1, 1, 1, 1, 2]
            var tasks: [Task<Void, any Error>] = []
            for (number, user) in users.enumerated() {
                tasks.append(
                    Task {
                        let turn = try await hub.turn(of: user, looksUp: looksUp)
                        turns.yield(user)
                        withExtendedLifetime(turn) {}
                    }
                )
                try await poll("\(number + 1) in line") { line.waitingCount == number + 1 }
            }
            held.removeLast()
            for task in tasks { try await task.value }
            turns.finish()
            let seen = await order.reduce(into: []) { $0.append($1) }
            #expect(seen.prefix(2).contains(2) && seen.count == users.count, "\(seen)")
            withExtendedLifetime(held) {}
        }
    }
}
