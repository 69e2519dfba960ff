import Testing

@testable import Curl

@Suite("The line for a host's connections")
struct HostQueueTests {
    /// `#expect` can't call a function that changes something.
    private static func check(_ isRight: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(isRight, sourceLocation: sourceLocation)
    }

    @Test("So many begin at once; others follow in their order, and who gives up waits no more")
    func order() {
        var queue = HostQueue<Int>(limit: 2)
        let entered = (1...5).map { queue.enter($0) }
        #expect(entered == [true, true, false, false, false])
        Self.check(queue.leave(4) == nil)
        Self.check(queue.leave(1) == 3)
        Self.check(queue.leave(3) == 5)
        Self.check(queue.leave(5) == nil)
        #expect(!queue.isEmpty)
        Self.check(queue.enter(6))
        Self.check(queue.leave(2) == nil)
        Self.check(queue.leave(6) == nil)
        #expect(queue.isEmpty)
    }

    @Test("Who leaves twice frees nothing twice")
    func twice() {
        var queue = HostQueue<Int>(limit: 1)
        Self.check(queue.enter(1))
        Self.check(queue.enter(2) == false)
        Self.check(queue.enter(3) == false)
        Self.check(queue.leave(1) == 2)
        Self.check(queue.leave(1) == nil)
        Self.check(queue.leave(2) == 3)
    }
}
