import ServerProcesses
import TestSupport
import Testing

@testable import Budgets

@Suite("A fair line", .timeLimit(.minutes(1)))
struct FairLineTests {
    private static let limits = FairLine.Limits(places: 1, waiting: 8, waitingPerGroup: 5, waitingPerMember: 3)

    private func state(_ entries: [(Int, String, String)]) -> FairLineState<Int> {
        var state = FairLineState<Int>(limits: Self.limits)
        for (waiter, group, member) in entries {
            _ = state.enter(waiter, FairLine.Claimant(group: group, member: member))
        }
        return state
    }

    /// Who gets the place, one after another.
    private func order(_ state: consuming FairLineState<Int>) -> [Int] {
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

    @Test("Who comes late to a group that waits has its next turn but one")
    func late() {
        let state = state([(0, "x", "x"), (1, "a", "1"), (2, "a", "1"), (3, "a", "1"), (4, "c", "1")])
        #expect(order(state) == [1, 4, 2, 3])
    }

    @Test("A member, a group and all together can wait only so many times")
    func refusals() {
        var state = state([(0, "x", "x"), (1, "a", "1"), (2, "a", "1"), (3, "a", "1")])
        func enter(_ waiter: Int, _ group: String, _ member: String) -> FairLineState<Int>.Entrance {
            state.enter(waiter, FairLine.Claimant(group: group, member: member))
        }
        #expect(enter(4, "a", "1") == .refused(.ownLineFull))
        #expect(enter(4, "a", "2") == .waits)
        #expect(enter(5, "a", "3") == .waits)
        #expect(enter(6, "a", "4") == .refused(.ownLineFull))
        for waiter in 6..<9 { #expect(enter(waiter, "b\(waiter)", "1") == .waits) }
        #expect(enter(9, "b6", "1") == .refused(.full), "it has a waiter already")
        // Who begins a line takes the room of the end of the longest.
        #expect(enter(9, "c", "1") == .displaces(3))
        for (waiter, displaced) in [(10, 2), (11, 5), (12, 4)] {
            #expect(enter(waiter, "d\(waiter)", "1") == .displaces(displaced))
        }
        #expect(enter(13, "e", "1") == .refused(.full), "each line has one waiter")
        let next = state.leave()
        #expect(next == 1)
        #expect(enter(13, "e", "1") == .waits)
    }

    @Test("Who gives up is passed over, and leaves room")
    func giveUp() {
        var state = state([(0, "x", "x"), (1, "a", "1"), (2, "a", "2"), (3, "b", "1")])
        let claimant = FairLine.Claimant(group: "a", member: "1")
        let isFirst = state.giveUp(1, claimant)
        #expect(isFirst)
        let isAgain = state.giveUp(1, claimant)
        #expect(!isAgain)
        let isOther = state.giveUp(3, claimant)
        #expect(!isOther)
        let isLast = state.giveUp(3, FairLine.Claimant(group: "b", member: "1"))
        #expect(isLast)
        #expect(order(state) == [2])
    }

    /// In any order of events: no more places than there are, nobody forgotten, nobody twice.
    @Test("Whatever happens, everybody who waits gets one place, or is displaced", arguments: 0..<20)
    func model(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var state = FairLineState<Int>(
            limits: FairLine.Limits(places: 2, waiting: 8, waitingPerGroup: 6, waitingPerMember: 4)
        )
        var (waiting, taken) = ([Int: FairLine.Claimant](), 0)
        func served(_ waiter: Int) {
            let hasWaited = waiting.removeValue(forKey: waiter) != nil
            #expect(hasWaited)
        }
        for waiter in 0..<2_000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0...2:
                let claimant = FairLine.Claimant(
                    group: "\(Int.random(in: 0..<4, using: &random))",
                    member: "\(Int.random(in: 0..<3, using: &random))"
                )
                switch state.enter(waiter, claimant) {
                case .admitted: taken += 1
                case .waits: waiting[waiter] = claimant
                case .displaces(let other):
                    served(other)
                    waiting[waiter] = claimant
                case .refused: #expect(taken == 2)
                }
            case 3 where taken > 0:
                let next = state.leave()
                #expect((next == nil) == waiting.isEmpty)
                if let next { served(next) } else { taken -= 1 }
            default:
                guard let (waiter, claimant) = waiting.randomElement(using: &random) else { continue }
                let hasWaited = state.giveUp(waiter, claimant)
                #expect(hasWaited)
                waiting[waiter] = nil
            }
            #expect(taken <= 2 && state.takenCount == taken && waiting.count <= 8)
            #expect(taken == 2 || waiting.isEmpty)
        }
        while taken > 0 {
            if let next = state.leave() { served(next) } else { taken -= 1 }
        }
        #expect(waiting.isEmpty)
    }

    @Test("A place goes to who waits when it is dropped, and who is cancelled does not get it")
    func places() async throws {
        let line = FairLine(limits: Self.limits)
        let claimant = FairLine.Claimant(group: "a", member: "1")
        var place: Place? = try await line.enter(claimant)
        let cancelled = Task { try await line.enter(claimant) }
        try await poll("it waits") { line.waitingCount == 1 }
        let waiting = Task { try await line.enter(claimant) }
        try await poll("both wait") { line.waitingCount == 2 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
        #expect(line.waitingCount == 1)
        withExtendedLifetime(place) {}
        place = nil
        let second = try await waiting.value
        #expect(line.waitingCount == 0)
        await #expect(throws: CancellationError.self) {
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await line.enter(claimant)
            }.value
        }
        try line.requireRoom(for: claimant)
        withExtendedLifetime(second) {}
    }

    @Test("That there is no room is told beforehand")
    func room() async throws {
        let line = FairLine(limits: FairLine.Limits(places: 1, waiting: 1, waitingPerGroup: 1, waitingPerMember: 1))
        let (own, other) = (FairLine.Claimant(group: "a", member: "1"), FairLine.Claimant(group: "b", member: "1"))
        let place = try await line.enter(own)
        try line.requireRoom(for: own)
        let waiting = Task { try await line.enter(own) }
        try await poll("it waits") { line.waitingCount == 1 }
        #expect(throws: FairLineRefusal.ownLineFull) { try line.requireRoom(for: own) }
        #expect(throws: FairLineRefusal.full) { try line.requireRoom(for: other) }
        await #expect(throws: FairLineRefusal.full) { _ = try await line.enter(other) }
        withExtendedLifetime(place) {}
        waiting.cancel()
        _ = try? await waiting.value
    }
}
