import ServerProcesses
import TestSupport
import Testing

@testable import Budgets

@Suite("A fair semaphore", .timeLimit(.minutes(1)))
struct FairSemaphoreTests {
    private static let limits = FairSemaphore.Limits(permits: 1, waiting: 8, waitingPerGroup: 5, waitingPerMember: 3)

    private static let (caller, everyone) = (TooBusy.holder(limit: "X_PER_CALLER"), TooBusy.everyone(limit: "X"))

    private func state(_ entries: [(Int, String, String)]) -> FairQueue<Int> {
        var state = FairQueue<Int>("X", limits: Self.limits)
        for (waiter, group, member) in entries {
            _ = state.enter(waiter, FairSemaphore.Caller(group: group, member: member))
        }
        return state
    }

    /// The order in which callers get the permit.
    private func order(_ state: consuming FairQueue<Int>) -> [Int] {
        var order: [Int] = []
        while let next = state.leave() { order.append(next) }
        return order
    }

    @Test("Groups take turns, so do members within a group, and each member's come in their order")
    func turns() {
        let state = state([
            (0, "x", "x"), (1, "a", "1"), (2, "a", "1"), (3, "a", "2"), (4, "b", "1"), (5, "a", "1"), (6, "b", "1"),
        ])
        #expect(order(state) == [1, 4, 3, 6, 2, 5])
    }

    @Test("A caller who joins a waiting group gets the group's turn after the next")
    func late() {
        let state = state([(0, "x", "x"), (1, "a", "1"), (2, "a", "1"), (3, "a", "1"), (4, "c", "1")])
        #expect(order(state) == [1, 4, 2, 3])
    }

    @Test("A member, a group and all together can wait only so many times")
    func refusals() {
        var state = state([(0, "x", "x"), (1, "a", "1"), (2, "a", "1"), (3, "a", "1")])
        func enter(_ waiter: Int, _ group: String, _ member: String) -> FairQueue<Int>.Entrance {
            state.enter(waiter, FairSemaphore.Caller(group: group, member: member))
        }
        #expect(enter(4, "a", "1") == .refused(Self.caller))
        #expect(enter(4, "a", "2") == .waits)
        #expect(enter(5, "a", "3") == .waits)
        #expect(enter(6, "a", "4") == .refused(Self.caller))
        for waiter in 6..<9 { #expect(enter(waiter, "b\(waiter)", "1") == .waits) }
        #expect(enter(9, "b6", "1") == .refused(Self.everyone), "it has a waiter already")
        // A caller that starts a queue displaces the last of the longest.
        #expect(enter(9, "c", "1") == .displaces(3, Self.caller))
        for (waiter, displaced) in [(10, 2), (11, 5), (12, 4)] {
            #expect(enter(waiter, "d\(waiter)", "1") == .displaces(displaced, Self.caller))
        }
        #expect(enter(13, "e", "1") == .refused(Self.everyone), "each line has one waiter")
        let next = state.leave()
        #expect(next == 1)
        #expect(enter(13, "e", "1") == .waits)
    }

    @Test("A caller who gives up is skipped, and frees its place")
    func giveUp() {
        var state = state([(0, "x", "x"), (1, "a", "1"), (2, "a", "2"), (3, "b", "1")])
        let caller = FairSemaphore.Caller(group: "a", member: "1")
        let isFirst = state.giveUp(1, caller)
        #expect(isFirst)
        let isAgain = state.giveUp(1, caller)
        #expect(!isAgain)
        let isOther = state.giveUp(3, caller)
        #expect(!isOther)
        let isLast = state.giveUp(3, FairSemaphore.Caller(group: "b", member: "1"))
        #expect(isLast)
        #expect(order(state) == [2])
    }

    /// In any order of events: no more permits than there are, no caller forgotten or served twice.
    @Test("Whatever happens, everybody who waits gets one permit, or is displaced", arguments: 0..<20)
    func model(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var state = FairQueue<Int>(
            "X",
            limits: FairSemaphore.Limits(permits: 2, waiting: 8, waitingPerGroup: 6, waitingPerMember: 4)
        )
        var (waiting, taken) = ([Int: FairSemaphore.Caller](), 0)
        func served(_ waiter: Int) {
            let hasWaited = waiting.removeValue(forKey: waiter) != nil
            #expect(hasWaited)
        }
        for waiter in 0..<2_000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0...2:
                let caller = FairSemaphore.Caller(
                    group: "\(Int.random(in: 0..<4, using: &random))",
                    member: "\(Int.random(in: 0..<3, using: &random))"
                )
                switch state.enter(waiter, caller) {
                case .admitted: taken += 1
                case .waits: waiting[waiter] = caller
                case .displaces(let other, _):
                    served(other)
                    waiting[waiter] = caller
                case .refused: #expect(taken == 2)
                }
            case 3 where taken > 0:
                let next = state.leave()
                #expect((next == nil) == waiting.isEmpty)
                if let next { served(next) } else { taken -= 1 }
            default:
                guard let (waiter, caller) = waiting.randomElement(using: &random) else { continue }
                let hasWaited = state.giveUp(waiter, caller)
                #expect(hasWaited)
                waiting[waiter] = nil
            }
            #expect(taken <= 2 && state.permitsInUse == taken && waiting.count <= 8)
            #expect(taken == 2 || waiting.isEmpty)
        }
        while taken > 0 {
            if let next = state.leave() { served(next) } else { taken -= 1 }
        }
        #expect(waiting.isEmpty)
    }

    @Test("A dropped permit goes to a waiting caller, and not to a cancelled one")
    func permits() async throws {
        let semaphore = FairSemaphore("X", limits: Self.limits)
        let caller = FairSemaphore.Caller(group: "a", member: "1")
        var permit: FairSemaphore.Permit? = try await semaphore.acquire(for: caller)
        let cancelled = Task { try await semaphore.acquire(for: caller) }
        try await poll("it waits") { semaphore.waitingCount == 1 }
        let waiting = Task { try await semaphore.acquire(for: caller) }
        try await poll("both wait") { semaphore.waitingCount == 2 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
        #expect(semaphore.waitingCount == 1)
        withExtendedLifetime(permit) {}
        permit = nil
        let second = try await waiting.value
        #expect(semaphore.waitingCount == 0)
        await #expect(throws: CancellationError.self) {
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await semaphore.acquire(for: caller)
            }.value
        }
        try semaphore.requireRoom(for: caller)
        withExtendedLifetime(second) {}
    }

    @Test("A caller is refused before it waits if the queue is full")
    func room() async throws {
        let semaphore = FairSemaphore(
            "X",
            limits: FairSemaphore.Limits(permits: 1, waiting: 1, waitingPerGroup: 1, waitingPerMember: 1)
        )
        let (own, other) = (
            FairSemaphore.Caller(group: "a", member: "1"), FairSemaphore.Caller(group: "b", member: "1")
        )
        let permit = try await semaphore.acquire(for: own)
        try semaphore.requireRoom(for: own)
        let waiting = Task { try await semaphore.acquire(for: own) }
        try await poll("it waits") { semaphore.waitingCount == 1 }
        #expect(throws: Self.caller) { try semaphore.requireRoom(for: own) }
        #expect(throws: Self.everyone) { try semaphore.requireRoom(for: other) }
        await #expect(throws: Self.everyone) { _ = try await semaphore.acquire(for: other) }
        withExtendedLifetime(permit) {}
        waiting.cancel()
        _ = try? await waiting.value
    }
}
