import Testing

@testable import Budgets

@Suite("Places")
struct PlacesTests {
    @Test("Each holder has some, all together no more than there are, and a dropped one is free again")
    func limits() throws {
        let places = Places<String>(.init("PLACES", per: "HOLDER"), limits: .init(total: 3, perHolder: 2))
        var own = [try places.take(for: "a"), try places.take(for: "a")]
        #expect(throws: NoPlace.holderHasAll(limit: "PLACES_PER_HOLDER")) { _ = try places.take(for: "a") }
        let other = try places.take(for: "b")
        #expect(throws: NoPlace.allTaken(limit: "PLACES")) { _ = try places.take(for: "b") }
        #expect(throws: NoPlace.allTaken(limit: "PLACES")) { _ = try places.take(for: "c") }
        #expect(places.takenCount == 3)
        own.removeLast()
        #expect(places.takenCount == 2)
        let third = try places.take(for: "c")
        #expect(throws: NoPlace.allTaken(limit: "PLACES")) { _ = try places.take(for: "a") }
        withExtendedLifetime((own, other, third)) {}
    }

    @Test("One holder may have all where that is said")
    func oneHolder() throws {
        let places = Places<Int>(.init("PLACES", per: "HOLDER"), limits: .init(total: 3, perHolder: 3))
        let taken = try (0..<3).map { _ in try places.take(for: 1) }
        #expect(throws: NoPlace.holderHasAll(limit: "PLACES_PER_HOLDER")) { _ = try places.take(for: 1) }
        #expect(throws: NoPlace.allTaken(limit: "PLACES")) { _ = try places.take(for: 2) }
        withExtendedLifetime(taken) {}
    }

    @Test("Who takes all they can leaves as much for others")
    func thresholds() throws {
        let places = Places<Int>(.init("PLACES", per: "HOLDER"), limits: .init(total: 100, perHolder: 99))
        var taken: [Place] = []
        func takeAll(_ holder: Int) -> Int {
            var count = 0
            while let place = try? places.take(for: holder) {
                taken.append(place)
                count += 1
            }
            return count
        }
        #expect(takeAll(1) == 50)
        #expect(takeAll(2) == 25)
        // Others at once leave some for each who comes.
        #expect((3...8).map(takeAll) == [13, 6, 3, 2, 1, 0])
        #expect(places.takenCount == 100)
        withExtendedLifetime(taken) {}
    }
}

@Suite("A budget of bytes")
struct ByteBudgetTests {
    @Test("Each holder has some, all together no more than there are, and a dropped reservation is free again")
    func limits() throws {
        let budget = ByteBudget<Int>(maxBytes: 100, maxBytesPerHolder: 60)
        let first = ByteReservation(of: budget, for: 1)
        do {
            let second = ByteReservation(of: budget, for: 1)
            try first.grow(by: 40)
            try second.grow(by: 20)
            #expect(throws: NoBytes.holderHasAll) { try second.grow(by: 1) }
            #expect(budget.bytesUsed == 60)
        }
        #expect(budget.bytesUsed == 40)
        let third = ByteReservation(of: budget, for: 2)
        try third.grow(by: 60)
        #expect(throws: NoBytes.allTaken) { try first.grow(by: 1) }
        let fourth = ByteReservation(of: budget, for: 3)
        #expect(throws: NoBytes.allTaken) { try fourth.grow(by: 1) }
        #expect(throws: NoBytes.holderHasAll) { try third.grow(by: .max) }
        third.giveBack()
        third.giveBack()
        #expect(budget.bytesUsed == 40)
        try first.grow(by: 20)
        #expect(budget.bytesUsed == 60)
    }

    @Test("Who takes all they can leaves as much for others")
    func thresholds() throws {
        let budget = ByteBudget<Int>(maxBytes: 100, maxBytesPerHolder: 99)
        let reservations = (0..<3).map { ByteReservation(of: budget, for: $0) }
        for (reservation, share) in zip(reservations, [50, 75, 88]) {
            while (try? reservation.grow(by: 1)) != nil {}
            #expect(budget.bytesUsed == share)
        }
    }
}
