import NIOCore
import Testing

@testable import HTTPConnection

/// How long the client waits for an answer.
extension ConnectionTimeTests {
    @Test("A request whose answer has not begun at the limit is timed out, counted from its last byte")
    mutating func responding() {
        beginBody()
        machine.requestEnd(now: start + .seconds(10))
        #expect(tick(.seconds(10) + .seconds(27) - justBefore) == .none)
        #expect(!machine.hasTimedOut)
        #expect(tick(.seconds(10) + .seconds(27)) == .timeOut)
        #expect(machine.hasTimedOut && machine.isAbandonable)
        machine.refused(now: start + .seconds(37))
        #expect(tick(.hours(1)) == .none, "once is enough")
        let isFree = machine.quiesce(now: start)
        #expect(isFree)
    }

    @Test("An answer that has begun may take as long as it takes")
    mutating func answering() {
        beginBody()
        machine.requestEnd(now: start)
        _ = machine.responseHead()
        #expect(tick(.hours(1)) == .none)
    }

    @Test("The time for the answer to a pipelined request begins with the end of the answer before it")
    mutating func pipelined() {
        for _ in 0..<2 {
            beginBody()
            machine.requestEnd(now: start)
        }
        #expect(tick(TimeAmount.seconds(27) - justBefore) == .none)
        _ = machine.responseHead()
        #expect(tick(.seconds(40)) == .none)
        _ = machine.responseEnd(now: start + .seconds(40))
        #expect(tick(.seconds(40) + .seconds(27) - justBefore) == .none)
        #expect(tick(.seconds(40) + .seconds(27)) == .timeOut)
    }

    @Test("A request is timed out although the body of the next is arriving")
    mutating func pipelinedBody() {
        beginBody()
        machine.requestEnd(now: start)
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start + .seconds(20))
        #expect(tick(TimeAmount.seconds(27) - justBefore) == .none)
        #expect(tick(.seconds(27)) == .timeOut)
    }

    @Test("A server that does not read on is given the time for an answer, from what came last on")
    mutating func stuckServer() {
        beginBody()
        #expect(tick(.seconds(10), isReadPending: false) == .none)
        machine.requestBody(bytes: 1, now: start + .seconds(11))
        #expect(tick(.seconds(12), isReadPending: false) == .none)
        #expect(tick(.seconds(11) + .seconds(27) - justBefore, isReadPending: false) == .none)
        #expect(tick(.seconds(11) + .seconds(27), isReadPending: false) == .timeOut)
    }

    @Test("What came while the server did not read counts as there since then")
    mutating func lateReader() {
        beginBody()
        #expect(tick(.seconds(20), isReadPending: false) == .none)
        machine.requestBody(bytes: 10, now: start + .seconds(21))
        machine.requestEnd(now: start + .seconds(21))
        #expect(tick(TimeAmount.seconds(27) - justBefore) == .none)
        #expect(tick(.seconds(27)) == .timeOut)
    }

    @Test("A server that reads on has the whole time again")
    mutating func readingAgain() {
        beginBody()
        #expect(tick(.seconds(20), isReadPending: false) == .none)
        #expect(tick(.seconds(22)) == .none)
        machine.requestBody(bytes: 10, now: start + .seconds(23))
        machine.requestEnd(now: start + .seconds(23))
        #expect(tick(.seconds(23) + .seconds(27) - justBefore) == .none)
        #expect(tick(.seconds(23) + .seconds(27)) == .timeOut)
    }

    @Test("A client that waits for 100 Continue is not slow; the server is")
    mutating func waitingForLeave() {
        machine.requestHead(isKeepAlive: true, expectsContinue: true, isSafe: true, now: start)
        #expect(tick(TimeAmount.seconds(27) - justBefore) == .none)
        #expect(tick(.seconds(27)) == .timeOut)
    }

    @Test("After a late 100 Continue, the time for an answer counts from the last byte", arguments: [false, true])
    mutating func lateLeave(sendsWithout: Bool) {
        machine.requestHead(isKeepAlive: true, expectsContinue: true, isSafe: true, now: start)
        #expect(tick(.seconds(20)) == .none)
        let mayContinue = sendsWithout || machine.takesContinue()
        #expect(mayContinue)
        machine.requestBody(bytes: 10, now: start + .seconds(21))
        machine.requestEnd(now: start + .seconds(21))
        #expect(tick(.seconds(21) + .seconds(27) - justBefore) == .none)
        #expect(tick(.seconds(21) + .seconds(27)) == .timeOut)
    }

    @Test("While a client still takes an answer, the time for the next does not run", arguments: [false, true])
    mutating func takingBefore(isWhole: Bool) {
        beginBody()
        machine.requestEnd(now: start)
        _ = machine.responseHead()
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        if isWhole { machine.requestEnd(now: start) }
        machine.socketTook(bytes: 0, isAll: false, now: start)
        _ = machine.responseEnd(now: start)
        for second in stride(from: Int64(10), through: 100, by: 10) {
            machine.socketTook(bytes: 16_384 * Int(second), isAll: false, now: start + .seconds(second))
            #expect(tick(.seconds(second), isReadPending: false) == .none)
        }
        machine.socketTook(bytes: 16_384 * 100, isAll: true, now: start + .seconds(100))
        #expect(tick(.seconds(100) + .seconds(27) - justBefore, isReadPending: false) == .none)
        #expect(tick(.seconds(100) + .seconds(27), isReadPending: false) == .timeOut)
    }

    @Test("The handler of a second body has its time from the answer to the first request on")
    mutating func stuckBehindAnother() {
        beginBody()
        machine.requestEnd(now: start)
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        #expect(tick(.seconds(20), isReadPending: false) == .none)
        _ = machine.responseHead()
        #expect(tick(.seconds(40), isReadPending: false) == .none)
        _ = machine.responseEnd(now: start + .seconds(50))
        #expect(tick(.seconds(50) + .seconds(27) - justBefore, isReadPending: false) == .none)
        #expect(tick(.seconds(50) + .seconds(27), isReadPending: false) == .timeOut)
    }
}
