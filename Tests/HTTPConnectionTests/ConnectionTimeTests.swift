import NIOCore
import Testing

@testable import HTTPConnection

/// The promise behind the default limits: a client that has gone silent is dropped within 30 seconds.
@Suite("A burst, then silence")
struct SilenceTests {
    @Test("However much came before, silence is noticed within 30 seconds", arguments: [0, 6 * 1024, 20 << 20])
    func burst(bytes: Int) {
        let limits = ConnectionLimits()
        let start = NIODeadline.now()
        var state = ConnectionStateMachine(limits: limits, now: start)
        state.bytesRead(now: start)
        state.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        state.requestBody(bytes: bytes, now: start)
        var now = start
        while state.tick(now: now, isReadPending: true) == .none, now < start + .seconds(120) {
            now = now + limits.tick
        }
        #expect(now - start <= .seconds(30))
    }
}

@Suite("A connection's time limits")
struct ConnectionTimeTests {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    let justBefore = TimeAmount.nanoseconds(1)
    private let limits = ConnectionLimits()
    var machine: ConnectionStateMachine

    init() {
        machine = ConnectionStateMachine(limits: limits, now: start)
    }

    mutating func tick(_ time: TimeAmount, isReadPending: Bool = true) -> ConnectionStateMachine.TimeAction {
        machine.tick(now: start + time, isReadPending: isReadPending)
    }

    mutating func beginBody() {
        machine.bytesRead(now: start)
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
    }

    @Test("An idle connection is closed at its limit")
    mutating func idle() {
        #expect(tick(TimeAmount.seconds(60) - justBefore) == .none)
        #expect(tick(TimeAmount.seconds(60)) == .close)
    }

    @Test("The idle time of a used connection counts from its last answer")
    mutating func idleAgain() {
        beginBody()
        machine.requestEnd(now: start)
        _ = machine.responseEnd(now: start + .seconds(10))
        #expect(tick(TimeAmount.seconds(60) + .seconds(10) - justBefore) == .none)
        #expect(tick(TimeAmount.seconds(60) + .seconds(10)) == .close)
    }

    @Test(
        "What only reads is given up some time after the client closed its side; what writes is seen through",
        arguments: [true, false]
    )
    mutating func halfClosed(isSafe: Bool) {
        machine.bytesRead(now: start)
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: isSafe, now: start)
        machine.requestEnd(now: start)
        #expect(tick(.seconds(10)) == .none)
        #expect(machine.isAbandonable == isSafe)
        machine.inputClosed(now: start + .seconds(10))
        machine.inputClosed(now: start + .seconds(11))
        let end = .seconds(10) + TimeAmount.seconds(2)
        #expect(tick(end - justBefore) == .none)
        #expect(tick(end) == (isSafe ? .abandon : .none))
    }

    @Test("A request with a safe method is seen through when its handler says that it changes something")
    mutating func markedUnsafe() {
        machine.bytesRead(now: start)
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        machine.markRequestUnsafe()
        machine.requestEnd(now: start)
        machine.inputClosed(now: start)
        #expect(!machine.isAbandonable)
        #expect(tick(.seconds(10)) == .none)
        _ = machine.responseEnd(now: start + .seconds(10))
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start + .seconds(10))
        machine.requestEnd(now: start + .seconds(10))
        #expect(machine.isAbandonable, "the next request")
    }

    @Test("A header that is not complete at its limit is refused, however its bytes trickle")
    mutating func header() {
        machine.bytesRead(now: start)
        machine.bytesRead(now: start + TimeAmount.seconds(20) - justBefore)
        #expect(tick(TimeAmount.seconds(20) - justBefore) == .none)
        #expect(tick(TimeAmount.seconds(20)) == .refuse)
    }

    @Test("A body that brings a byte too few within the window is failed")
    mutating func slowBody() {
        beginBody()
        machine.requestBody(bytes: 3 * 1024 - 1, now: start)
        #expect(tick(TimeAmount.seconds(12) - justBefore) == .none)
        #expect(tick(TimeAmount.seconds(12)) == .failBody)
    }

    @Test("A body that brings just enough within each window is not closed")
    mutating func steadyBody() {
        beginBody()
        for window in 1...4 {
            machine.requestBody(bytes: 3 * 1024, now: start)
            #expect(tick(TimeAmount.seconds(12) * window) == .none)
        }
    }

    @Test("A failed body that is not answered is closed a window later")
    mutating func failedBody() {
        beginBody()
        #expect(tick(TimeAmount.seconds(12)) == .failBody)
        #expect(tick(TimeAmount.seconds(12) * 2 - justBefore) == .none)
        #expect(tick(TimeAmount.seconds(12) * 2) == .close)
    }

    @Test("A body is not slow while the server is not ready to read it")
    mutating func busyServer() {
        beginBody()
        #expect(tick(TimeAmount.seconds(12) * 2, isReadPending: false) == .none)
        #expect(tick(TimeAmount.seconds(12) * 3 - justBefore) == .none)
        #expect(tick(TimeAmount.seconds(12) * 3) == .failBody)
    }

    @Test("Of several requests, none is given up while one of them writes, or while an answer is being taken")
    mutating func severalHalfClosed() {
        for isSafe in [false, true] {
            machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: isSafe, now: start)
            machine.requestEnd(now: start)
        }
        machine.inputClosed(now: start)
        #expect(!machine.isAbandonable)
        #expect(tick(.seconds(10)) == .none)
        _ = machine.responseHead()
        _ = machine.responseEnd(now: start)
        #expect(machine.isAbandonable)
        #expect(tick(.seconds(10)) == .abandon)
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        machine.requestEnd(now: start)
        _ = machine.responseHead()
        #expect(tick(.seconds(10)) == .none)
    }

    @Test("A client that leaves its answer unread is dropped at the limit")
    mutating func unread() {
        beginBody()
        machine.requestEnd(now: start)
        machine.socketTook(bytes: 100, isAll: false, now: start)
        #expect(tick(TimeAmount.seconds(25) - justBefore) == .none)
        #expect(tick(TimeAmount.seconds(25)) == .close)
    }

    @Test("A client that takes a byte too little of its answer within the limit is dropped, one that takes enough not")
    mutating func slowReader() {
        beginBody()
        machine.requestEnd(now: start)
        _ = machine.responseHead()
        var taken = 100
        machine.socketTook(bytes: taken, isAll: false, now: start)
        for round in 1...10 {
            taken += 16 * 1024
            machine.socketTook(bytes: taken, isAll: false, now: start + TimeAmount.seconds(25) * round - justBefore)
            #expect(tick(TimeAmount.seconds(25) * round - justBefore) == .none)
        }
        let last = TimeAmount.seconds(25) * 10 - justBefore
        machine.socketTook(bytes: taken + 16 * 1024 - 1, isAll: false, now: start + last)
        #expect(tick(last + TimeAmount.seconds(25) - justBefore) == .none)
        #expect(tick(last + TimeAmount.seconds(25)) == .close)
    }

    @Test("A client that took all of an answer has the whole time for the next")
    mutating func nextAnswer() {
        beginBody()
        machine.requestEnd(now: start)
        _ = machine.responseHead()
        machine.socketTook(bytes: 100, isAll: false, now: start)
        machine.socketTook(bytes: 200, isAll: true, now: start + .seconds(10))
        #expect(tick(TimeAmount.seconds(25) * 2) == .none)
        machine.socketTook(bytes: 200, isAll: false, now: start + TimeAmount.seconds(25) * 2)
        #expect(tick(TimeAmount.seconds(25) * 3 - justBefore) == .none)
        #expect(tick(TimeAmount.seconds(25) * 3) == .close)
    }

    @Test("An answer that has begun is not given up because the client closed its side")
    mutating func halfClosedReader() {
        beginBody()
        machine.requestEnd(now: start)
        machine.inputClosed(now: start)
        _ = machine.responseHead()
        #expect(tick(TimeAmount.seconds(2) * 2) == .none)
        #expect(machine.isAbandonable)
    }

    @Test("What follows a refusal is read for a while, then the connection is closed")
    mutating func lingering() {
        machine.bytesRead(now: start)
        machine.refused(now: start)
        machine.outputClosed(now: start + .seconds(10))
        #expect(tick(TimeAmount.seconds(5) + .seconds(10) - justBefore) == .none)
        #expect(tick(TimeAmount.seconds(5) + .seconds(10)) == .close)
    }

    @Test("A last answer that is still on its way has the time of any other")
    mutating func unsentAnswer() {
        machine.bytesRead(now: start)
        machine.refused(now: start)
        machine.socketTook(bytes: 0, isAll: false, now: start)
        #expect(tick(TimeAmount.seconds(25) - justBefore) == .none)
        #expect(tick(TimeAmount.seconds(25)) == .close)
    }

    @Test("Only the end of a last answer begins the time for what follows")
    mutating func openOutput() {
        machine.outputClosed(now: start + .seconds(1))
        #expect(machine.phase == .idle(since: start))
    }

    @Test("The limits are those that are documented, and a slow client is disconnected within 30 seconds")
    func limitsAsTheyAre() {
        #expect(limits.maxHeaderBytes == 16_384 && limits.maxHeaderFields == 100)
        #expect(limits.idleTimeout == .seconds(60) && limits.headerTimeout == .seconds(20))
        #expect(limits.bodyWindow == .seconds(12) && limits.minBodyBytesPerWindow == 3_072)
        #expect(limits.writeTimeout == .seconds(25) && limits.minWrittenBytesPerTimeout == 16_384)
        #expect(limits.lingerTimeout == .seconds(5) && limits.halfClosedTimeout == .seconds(2))
        #expect(limits.answerTimeout == .seconds(27) && limits.tick == .seconds(2))
        #expect(limits.answerTimeout + limits.tick < .seconds(30))
        #expect(limits.headerTimeout + limits.tick + limits.lingerTimeout <= .seconds(30))
        #expect(limits.bodyWindow + limits.tick + limits.lingerTimeout <= .seconds(30))
        #expect(limits.writeTimeout + limits.tick <= .seconds(30))
    }
}
