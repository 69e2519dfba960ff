import NIOCore
import Testing

@testable import HTTPConnection

@Suite("A connection's requests, one after another")
struct ConnectionStateMachineTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private var machine: ConnectionStateMachine

    init() {
        machine = ConnectionStateMachine(limits: ConnectionLimits(), now: start)
    }

    @Test("A request passes through header, body and answer, and the connection waits for the next")
    mutating func oneRequest() {
        #expect(machine.phase == .idle(since: start))
        machine.bytesRead(now: start + .seconds(1))
        #expect(machine.phase == .readingHeader(since: start + .seconds(1)))
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start + .seconds(2))
        machine.requestBody(bytes: 3, now: start)
        machine.requestBody(bytes: 4, now: start)
        #expect(machine.phase == .readingBody(since: start + .seconds(2), bytes: 7))
        machine.requestEnd(now: start + .seconds(3))
        #expect(machine.phase == .responding)
        #expect(machine.responseHead() == false)
        #expect(machine.responseEnd(now: start + .seconds(4)) == .keep)
        #expect(machine.phase == .idle(since: start + .seconds(4)))
    }

    @Test("Further bytes of a header do not begin its time anew")
    mutating func headerTime() {
        machine.bytesRead(now: start)
        machine.bytesRead(now: start + .seconds(5))
        #expect(machine.phase == .readingHeader(since: start))
    }

    @Test("Pipelined requests are answered one by one, and the connection is idle after the last")
    mutating func pipelining() {
        machine.bytesRead(now: start)
        for _ in 0..<2 {
            machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
            machine.requestEnd(now: start)
        }
        #expect(machine.responseHead() == false)
        #expect(machine.responseEnd(now: start + .seconds(1)) == .keep)
        #expect(machine.phase == .responding)
        #expect(machine.responseHead() == false)
        #expect(machine.responseEnd(now: start + .seconds(2)) == .keep)
        #expect(machine.phase == .idle(since: start + .seconds(2)))
    }

    @Test("The answer to a first request leaves the body of the second alone")
    mutating func pipelinedBody() {
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        machine.requestEnd(now: start)
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        #expect(machine.responseHead() == false)
        #expect(machine.responseEnd(now: start) == .keep)
        #expect(machine.phase == .readingBody(since: start, bytes: 0))
        machine.requestEnd(now: start)
        #expect(machine.responseHead() == false)
        #expect(machine.responseEnd(now: start) == .keep)
    }

    @Test("The connection ends with the answer to the last request that asked for it")
    mutating func connectionClose() {
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        machine.requestEnd(now: start)
        machine.requestHead(isKeepAlive: false, expectsContinue: false, isSafe: true, now: start)
        machine.requestEnd(now: start)
        #expect(machine.responseHead() == false)
        #expect(machine.responseEnd(now: start) == .keep)
        #expect(machine.responseHead() == true)
        #expect(machine.responseEnd(now: start) == .linger)
        #expect(machine.isLingering)
    }

    @Test("An answer that is ready before the body has come ends the connection")
    mutating func earlyAnswer() {
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        machine.requestBody(bytes: 100, now: start)
        #expect(machine.responseHead() == true)
        machine.requestBody(bytes: 100, now: start)
        machine.requestEnd(now: start)
        #expect(machine.responseEnd(now: start) == .linger)
    }

    @Test("100 Continue is sent once, and only to a client that waits for it")
    mutating func expectations() {
        machine.requestHead(isKeepAlive: true, expectsContinue: true, isSafe: true, now: start)
        #expect(machine.takesContinue() == true)
        #expect(machine.takesContinue() == false)
        machine.requestEnd(now: start)
        _ = machine.responseEnd(now: start)

        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        #expect(machine.takesContinue() == false)
        machine.requestEnd(now: start)
        _ = machine.responseEnd(now: start)

        machine.requestHead(isKeepAlive: true, expectsContinue: true, isSafe: true, now: start)
        machine.requestBody(bytes: 1, now: start)
        #expect(machine.takesContinue() == false)
    }

    @Test("Once refused, nothing that still comes changes anything")
    mutating func refused() {
        machine.bytesRead(now: start)
        machine.refused(now: start)
        machine.bytesRead(now: start + .seconds(1))
        machine.requestBody(bytes: 9, now: start)
        machine.requestEnd(now: start + .seconds(1))
        #expect(machine.isLingering)
    }
}

@Suite("A connection at shutdown, and with malformed bytes")
struct ConnectionEndTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// Brings a new machine to each phase.
    enum Stage: CaseIterable {
        case idle, readingHeader, readingBody, responding, pipelined, lingering
    }

    private func machine(at stage: Stage) -> ConnectionStateMachine {
        var machine = ConnectionStateMachine(limits: ConnectionLimits(), now: start)
        if stage == .idle { return machine }
        machine.bytesRead(now: start)
        if stage == .readingHeader { return machine }
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        if stage == .readingBody { return machine }
        machine.requestEnd(now: start)
        if stage == .responding { return machine }
        machine.requestHead(isKeepAlive: stage == .pipelined, expectsContinue: false, isSafe: true, now: start)
        machine.requestEnd(now: start)
        if stage == .pipelined { return machine }
        _ = machine.responseEnd(now: start)
        _ = machine.responseEnd(now: start)
        return machine
    }

    @Test("Shutdown closes a connection between requests at once, and none that a request arrives or is answered on")
    func quiesce() {
        for stage in Stage.allCases {
            var machine = machine(at: stage)
            let isFree = machine.quiesce(now: start)
            #expect(isFree == (stage == .lingering), "\(stage)")
        }
        var used = machine(at: .responding)
        _ = used.responseEnd(now: start)
        let isFree = used.quiesce(now: start)
        #expect(isFree)
    }

    @Test("A new connection at shutdown has a second for its first request, which is its last")
    func firstRequest() {
        var silent = machine(at: .idle)
        _ = silent.quiesce(now: start)
        let actions = [999, 1_000].map { milliseconds in
            silent.tick(now: start + .milliseconds(milliseconds), isReadPending: true)
        }
        #expect(actions == [.none, .close])
        var late = machine(at: .idle)
        _ = late.quiesce(now: start)
        late.bytesRead(now: start + .milliseconds(900))
        late.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start + .milliseconds(900))
        late.requestEnd(now: start + .milliseconds(900))
        let action = late.tick(now: start + .seconds(2), isReadPending: true)
        #expect(action == .none)
        #expect(late.responseHead() == true)
        #expect(late.responseEnd(now: start + .seconds(2)) == .linger)
    }

    @Test("A request that is running at shutdown is the connection's last")
    func lastRequest() {
        var machine = machine(at: .readingBody)
        #expect(machine.quiesce(now: start) == false)
        machine.requestEnd(now: start)
        #expect(machine.responseHead() == true)
        #expect(machine.responseEnd(now: start) == .linger)
    }

    @Test("A header that is arriving at shutdown may still become a request, the last one")
    func lastHeader() {
        var machine = machine(at: .readingHeader)
        #expect(machine.quiesce(now: start) == false)
        machine.requestHead(isKeepAlive: true, expectsContinue: false, isSafe: true, now: start)
        machine.requestEnd(now: start)
        #expect(machine.responseHead() == true)
        #expect(machine.responseEnd(now: start) == .linger)
    }

    @Test(
        "Malformed bytes are answered, fail the body they are in, or are dropped after whole requests",
        arguments: [
            (Stage.idle, ConnectionStateMachine.ParserErrorAction.refuse),
            (.readingHeader, .refuse), (.readingBody, .failBody),
            (.responding, .drop), (.pipelined, .drop), (.lingering, .close),
        ]
    )
    func parserError(stage: Stage, action: ConnectionStateMachine.ParserErrorAction) {
        var machine = machine(at: stage)
        #expect(machine.parserError() == action)
        let isTaken = machine.takesRequest()
        #expect(action != .drop || !isTaken)
    }

    @Test("The answer to a body that is not HTTP ends the connection")
    func afterParserError() {
        var machine = machine(at: .readingBody)
        #expect(machine.parserError() == .failBody)
        #expect(machine.responseHead() == true)
        #expect(machine.responseEnd(now: start) == .linger)
    }
}
