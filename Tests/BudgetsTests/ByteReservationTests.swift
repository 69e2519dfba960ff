import Budgets
import Testing

@Suite("Bytes that many share")
struct ByteReservationTests {
    @Test("A reservation becomes larger or smaller, and stays as it is when there is no room")
    func resize() throws {
        let budget = ByteBudget<Int>(maxBytes: 100, maxBytesPerHolder: 80)
        let reservation = ByteReservation(of: budget, for: 1)
        for count in [30, 50, 20, 20, 0, 10] {
            try reservation.resize(to: count)
            #expect(reservation.byteCount == count && budget.bytesUsed == count)
        }
        #expect(throws: NoBytes.holderHasAll) { try reservation.resize(to: 81) }
        #expect(reservation.byteCount == 10 && budget.bytesUsed == 10)
        let other = ByteReservation(of: budget, for: 2)
        try other.resize(to: 50)
        // As much stays free as one has.
        #expect(throws: NoBytes.allTaken) { try reservation.resize(to: 41) }
        #expect(reservation.byteCount == 10 && budget.bytesUsed == 60)
        try reservation.resize(to: 41, leavesSome: false)
        #expect(throws: NoBytes.allTaken) { try reservation.grow(by: 10, leavesSome: false) }
        #expect(reservation.byteCount == 41 && budget.bytesUsed == 91)
        reservation.giveBack()
        #expect(budget.bytesUsed == 50)
    }
}
