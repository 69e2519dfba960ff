import Budgets
import DatabaseTestSupport
import Postgres
import ServerProcesses
import Testing

@testable import SelfieRecords

@Suite("Readers of changes in a process", .timeLimit(.minutes(1)))
struct ChangeHubTests {
    @Test("Users take turns at reading, whatever the number of their readers", arguments: [false, true])
    func turns(looksUp: Bool) async throws {
        try await TestCluster.withClient(try await TestCluster.scratchDatabase()) { postgres in
            let hub = FollowChanges(postgres: postgres).hub
            let line = looksUp ? hub.lookups : hub.readings
            var held: [FairSemaphore.Permit] = []
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

    @Test("A reader that is woken again and again is reminded no more often than it waits")
    func reminders() async throws {
        let listener = ChangeListener(userID: 1, sessionID: nil)
        let start = ContinuousClock.now
        var reminders = ChangeReminders()
        for step in 0..<1_000 {
            // A tenth of a second each.
            let now = start + .milliseconds(100 * step)
            for _ in reminders.removeDue(at: now) {
                if let time = listener.remind(at: now) { reminders.add(ObjectIdentifier(listener), at: time) }
            }
            let deadline = now + .milliseconds(Int.random(in: 12_000...14_500))
            let (asked, asks) = AsyncStream.makeStream(of: Void.self)
            let waiting = Task {
                let wake = await listener.next(until: deadline) { asks.yield() }
                asks.finish()
                return wake
            }
            try await Task.sleep(for: .milliseconds(1))
            listener.wake { $0.changed.insert(step) }
            #expect(await waiting.value.changed == [step])
            for await _ in asked { reminders.add(ObjectIdentifier(listener), at: deadline) }
        }
        let count = reminders.removeDue(at: start + .seconds(200)).count
        #expect(count > 0 && count < 30, "\(count)")
    }

    @Test("Who is to be reminded of a time that has passed is reminded at once")
    func lateReminder() {
        let (listener, start) = (ChangeListener(userID: 1, sessionID: nil), ContinuousClock.now)
        var reminders = ChangeReminders()
        #expect(reminders.removeDue(at: start + .seconds(5)).isEmpty)
        reminders.add(ObjectIdentifier(listener), at: start)
        #expect(reminders.removeDue(at: start + .seconds(5) + .milliseconds(40)) == [ObjectIdentifier(listener)])
        #expect(reminders.removeDue(at: start + .seconds(9)).isEmpty)
    }
}
