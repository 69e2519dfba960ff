import Testing

@testable import SelfiePhotos

@Suite("New photos that wait for their small pictures")
struct BacklogCountsTests {
    @Test("One user has a hundred at most, and each that leaves makes room")
    func limit() {
        var counts = BacklogCounts()
        for _ in 0..<100 {
            let mayWait = counts.enter(1)
            #expect(mayWait)
        }
        let (first, second) = (counts.enter(1), counts.enter(2))
        #expect(!first && second)
        counts.leave(1)
        let (third, fourth) = (counts.enter(1), counts.enter(1))
        #expect(third && !fourth)
    }
}
