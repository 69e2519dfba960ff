import Testing

@testable import Budgets

@Suite("Permits")
struct PermitsTests {
    private func permits(_ total: Int, perHolder: Int = .max, thresholdFactor: Int = 1) -> Permits<Int> {
        let limits = PermitLimits(total: total, perHolder: perHolder, thresholdFactor: thresholdFactor)
        return Permits("X", per: "HOLDER", limits)
    }

    private static let (holder, everyone) = (TooBusy.holder(limit: "X_PER_HOLDER"), TooBusy.everyone(limit: "X"))

    @Test("Each holder has some, all together no more than there are, and a dropped one is free again")
    func limits() throws {
        let permits = permits(3, perHolder: 2)
        var own = [try permits.acquire(for: 1), try permits.acquire(for: 1)]
        #expect(throws: Self.holder) { try permits.acquire(for: 1) }
        let other = try permits.acquire(for: 2)
        #expect(throws: Self.everyone) { try permits.acquire(for: 2) }
        #expect(throws: Self.everyone) { try permits.acquire(for: 3) }
        #expect(permits.inUse == 3 && permits.inUse(by: 1) == 2)
        own.removeLast()
        #expect(permits.inUse == 2)
        let third = try permits.acquire(for: 3)
        #expect(throws: Self.everyone) { try permits.acquire(for: 1) }
        withExtendedLifetime((own, other, third)) {}
    }

    @Test("The same for many at a time, such as bytes: all of them or none")
    func many() throws {
        let permits = permits(100, perHolder: 60)
        let first = try permits.acquire(40, for: 1)
        do {
            let second = try permits.acquire(20, for: 1)
            #expect(throws: Self.holder) { try second.grow(by: 1) }
            #expect(permits.inUse == 60)
        }
        #expect(permits.inUse == 40)
        let third = try permits.acquire(60, for: 2)
        #expect(throws: Self.everyone) { try first.grow(by: 1) }
        #expect(throws: Self.everyone) { try permits.acquire(for: 3) }
        #expect(throws: Self.holder) { try third.grow(by: .max) }
        third.release()
        third.release()
        #expect(permits.inUse == 40)
        try first.grow(by: 20)
        #expect(permits.inUse == 60)
    }

    @Test("One holder may have all where there is no other limit")
    func oneHolder() throws {
        let permits = permits(3, perHolder: 3)
        let acquired = try (0..<3).map { _ in try permits.acquire(for: 1) }
        #expect(throws: Self.holder) { try permits.acquire(for: 1) }
        #expect(throws: Self.everyone) { try permits.acquire(for: 2) }
        withExtendedLifetime(acquired) {}
    }

    @Test("A holder with all permits it may have leaves as many for others")
    func thresholds() throws {
        let permits = permits(100, perHolder: 99)
        let acquired = (1...8).map { permits.none(for: $0) }
        for permit in acquired { while (try? permit.grow(by: 1)) != nil {} }
        // Parallel holders leave some for each new one.
        #expect(acquired.map(\.count) == [50, 25, 13, 6, 3, 2, 1, 0])
        #expect(permits.inUse == 100)
    }

    @Test("With a factor, a holder may have that many times the free permits")
    func thresholdFactor() throws {
        let permits = permits(100, perHolder: 99, thresholdFactor: 3)
        let acquired = [permits.none(for: 1), permits.none(for: 2)]
        for permit in acquired { while (try? permit.grow(by: 1)) != nil {} }
        #expect(acquired.map(\.count) == [75, 19])
    }

    @Test("A permit becomes larger or smaller, and stays as it is if too few are free")
    func resize() throws {
        let permits = permits(100, perHolder: 80)
        let permit = permits.none(for: 1)
        for count in [30, 50, 20, 20, 0, 10] {
            try permit.resize(to: count)
            #expect(permit.count == count && permits.inUse == count)
        }
        #expect(throws: Self.holder) { try permit.resize(to: 81) }
        #expect(permit.count == 10 && permits.inUse == 10)
        permit.release(downTo: 20)
        #expect(permit.count == 10 && permits.inUse == 10)
        let other = try permits.acquire(50, for: 2)
        // As much stays free as one has.
        #expect(throws: Self.everyone) { try permit.resize(to: 41) }
        #expect(permit.count == 10 && permits.inUse == 60)
        try permit.resize(to: 41, leavesSome: false)
        #expect(throws: Self.everyone) { try permit.grow(by: 10, leavesSome: false) }
        #expect(permit.count == 41 && permits.inUse == 91)
        permit.release()
        #expect(permits.inUse == 50)
        withExtendedLifetime(other) {}
    }
}
