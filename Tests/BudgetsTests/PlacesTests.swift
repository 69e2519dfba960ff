import Testing

@testable import Budgets

@Suite("Places")
struct PlacesTests {
    @Test("Each holder has some, all together no more than there are, and a dropped one is free again")
    func limits() throws {
        let places = Places<String>(limits: .init(total: 3, perHolder: 2))
        var own = [try places.take(for: "a"), try places.take(for: "a")]
        #expect(throws: NoPlace.holderHasAll) { _ = try places.take(for: "a") }
        let other = try places.take(for: "b")
        #expect(throws: NoPlace.allTaken) { _ = try places.take(for: "b") }
        #expect(throws: NoPlace.allTaken) { _ = try places.take(for: "c") }
        #expect(places.takenCount == 3)
        own.removeLast()
        #expect(places.takenCount == 2)
        let third = try places.take(for: "c")
        #expect(throws: NoPlace.allTaken) { _ = try places.take(for: "a") }
        withExtendedLifetime((own, other, third)) {}
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
            #expect(throws: NoPlace.holderHasAll) { try second.grow(by: 1) }
            #expect(budget.bytesUsed == 60)
        }
        #expect(budget.bytesUsed == 40)
        let third = ByteReservation(of: budget, for: 2)
        try third.grow(by: 60)
        #expect(throws: NoPlace.allTaken) { try first.grow(by: 1) }
        #expect(throws: NoPlace.holderHasAll) { try third.grow(by: .max) }
        third.giveBack()
        third.giveBack()
        #expect(budget.bytesUsed == 40)
        try first.grow(by: 20)
        #expect(budget.bytesUsed == 60)
    }
}
