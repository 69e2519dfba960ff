import Budgets
import DatabaseTestSupport
import Postgres
import ServerProcesses
import Synchronization
import Testing

@testable import SelfieRecords

@Suite("Readers of changes in a process", .timeLimit(.minutes(1)))
struct ChangeHubTests {
    @Test("Users take turns at reading, whatever the number of their readers")
    func turns() async throws {
        try await TestCluster.withDatabase { url in
            try await TestCluster.withClient(url) { postgres in
                let follow = FollowChanges(postgres: postgres)
                let line = follow.hub.readings
                var held: [FairSemaphore.Permit] = []
                for _ in 0..<2 { held.append(try await line.acquire(for: FairSemaphore.Caller(group: "1"))) }
                let (order, turns) = AsyncStream.makeStream(of: Int.self)
                let users = [1, 1, 1, 1, 2]
                var tasks: [Task<Void, any Error>] = []
                for (number, user) in users.enumerated() {
                    tasks.append(
                        Task {
                            let follower = follow(
                                ChangeQuery(collections: nil),
                                from: .now,
                                of: user,
                                session: nil,
                                for: .seconds(600)
                            )
                            _ = try await follower.next()
                            turns.yield(user)
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

    @Test("A reader waits until its time has come, and no longer when there is news")
    func deadlines() async throws {
        let listener = ChangeListener(ChangeReader(userID: 1, sessionID: nil))
        let start = ContinuousClock.now
        let isOver = Mutex(false)
        let waiting = Task {
            await listener.wait(until: start + .seconds(1_000))
            isOver.withLock { $0 = true }
        }
        for _ in 0..<1_000 {
            listener.wake(ifDueAt: start + .seconds(999))
            await Task.yield()
        }
        let wasOver = isOver.withLock(\.self)
        #expect(!wasOver)
        // It may not wait yet.
        try await poll("its time has come") {
            listener.wake(ifDueAt: start + .seconds(1_000))
            return isOver.withLock(\.self)
        }
        await waiting.value
        let again = Task { await listener.wait(until: start + .seconds(1_000)) }
        listener.wake { $0.changed.insert(7) }
        await again.value
        // It does not wait with news, or in a task that is cancelled.
        await listener.wait(until: start + .seconds(1_000))
        #expect(listener.takeStream()?.stream == 7 && listener.takeStream() == nil)
        let cancelled = Task { await listener.wait(until: start + .seconds(1_000)) }
        cancelled.cancel()
        await cancelled.value
    }

    @Test("A batch of news has the time of the first; a reader that must read all takes no single stream")
    func news() {
        let listener = ChangeListener(ChangeReader(userID: 1, sessionID: nil))
        let (first, second) = (ContinuousClock.now, ContinuousClock.now + .seconds(1))
        listener.wake(at: first) { $0.changed.insert(7) }
        listener.wake(at: second) { $0.changed.insert(8) }
        #expect(listener.takeStream()?.time == first && listener.takeStream()?.time == first)
        listener.wake(at: second) { $0.changed.insert(7) }
        listener.wake(at: first) { $0.needsRead = true }
        #expect(listener.takeStream() == nil && listener.takeAll() == second)
        #expect(listener.news == ChangeListener.News() && listener.takeAll() == nil)
        // The end of the process is no news that is taken.
        listener.wake { $0.isStopping = true }
        _ = listener.takeAll()
        #expect(listener.news.isStopping)
    }
}
