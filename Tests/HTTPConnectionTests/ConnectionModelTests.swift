import NIOCore
import TestSupport
import Testing

@testable import HTTPConnection

/// A connection's state machine, and what its owner would know of it.
struct ConnectionModel {
    /// What the client is about to do.
    enum Stage: Equatable {
        case quiet(since: NIODeadline)
        case header(since: NIODeadline)
        case body(since: NIODeadline, bytes: Int)
        case whole
    }

    private(set) var machine: ConnectionStateMachine
    private(set) var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private var stage: Stage
    /// Requests that came and are not answered yet: when they came whole, and whether they only read.
    private var unanswered: [(arrival: NIODeadline?, isSafe: Bool)] = []
    private(set) var answered = 0
    private(set) var isOver = false
    private var lastAnswer = NIODeadline.uptimeNanoseconds(0)
    private var lastArrival = NIODeadline.uptimeNanoseconds(0)
    /// Since when the server is not reading.
    private var stalled: NIODeadline?
    private(set) var hasTimedOut = false
    private var isAnswering = false
    private var mustClose = false
    /// Whether an answer said that the connection ends with it.
    private var hasSaidClose = false
    private var lingering: (since: NIODeadline, isSent: Bool)?
    private var hasParserFailed = false
    private var hasBegun = false
    /// Since when the server shuts down and the first request may still come.
    private var quiescing: NIODeadline?
    private var hasBodyFailed = false
    private var inputClosed: NIODeadline?
    private var taken: (time: NIODeadline, bytes: Int)?
    private var bytesTaken = 0

    init() {
        var limits = ConnectionLimits()
        // This one has tests of its own.
        limits.bodyTimeout = .hours(10_000)
        machine = ConnectionStateMachine(limits: limits, now: now)
        stage = .quiet(since: now)
    }

    private var isBody: Bool { if case .body = stage { true } else { false } }

    /// Since when the client waits for an answer to begin.
    private var waiting: NIODeadline? {
        guard !isAnswering, let arrival = unanswered.first?.arrival else { return nil }
        return max(arrival, lastAnswer)
    }

    /// Whether the client waits for leave to send a body.
    private var expectsContinue = false

    /// Since when the server does not read what is there, if it does not now.
    private func stalled(having bytes: Int) -> NIODeadline {
        bytes > 0 ? lastArrival : stalled ?? lastArrival
    }

    /// Does something that can happen next, and checks what comes of it.
    mutating func step(using generator: inout SplitMix64) {
        switch Int.random(in: 0..<16, using: &generator) {
        case 0, 1: pass(.milliseconds(.random(in: 0...15_000, using: &generator)), using: &generator)
        case 2, 3:
            machine.bytesRead(now: now)
            hasBegun = true
            if case .quiet = stage, lingering == nil { stage = .header(since: now) }
        case 4, 5: beginRequest(using: &generator)
        case 6: continueRequest(bytes: .random(in: 1...4_000, using: &generator))
        case 7, 8: endRequest()
        case 9, 10: beginAnswer()
        case 11, 12: endAnswer()
        case 13: rare(using: &generator)
        case 14:
            bytesTaken += Int.random(in: 0...20_000, using: &generator)
            let isAll = Bool.random(using: &generator)
            machine.socketTook(bytes: bytesTaken, isAll: isAll, now: now)
            if isAll {
                taken = nil
            } else if taken.map({ bytesTaken - $0.bytes >= 16_384 }) ?? true {
                taken = (now, bytesTaken)
            }
        default:
            guard let since = lingering?.since, lingering?.isSent == false else { return }
            #expect(since <= now)
            machine.outputClosed(now: now)
            lingering = (now, true)
        }
        check()
    }

    // MARK: What can happen

    private mutating func pass(_ time: TimeAmount, using generator: inout SplitMix64) {
        now = now + time
        let isReadPending = Bool.random(using: &generator)
        let due = due(at: now, isReadPending: isReadPending)
        let action = machine.tick(now: now, isReadPending: isReadPending)
        #expect(action == due)
        let isUnread = taken.map { now - $0.time >= .seconds(25) } ?? false
        if taken != nil {
            // What is not taken yet of an answer holds up the next.
            if waiting != nil { lastAnswer = now }
            (lastArrival, stalled) = (now, nil)
        }
        if case .body(let since, let bytes) = stage, lingering == nil, !isUnread {
            let isStalled = !isReadPending || expectsContinue
            stalled = isStalled ? stalled(having: bytes) : nil
            if isStalled || now - since >= .seconds(12) { stage = .body(since: now, bytes: 0) }
        }
        switch action {
        case .none, .abandon: break
        case .close: isOver = true
        case .refuse: refuse()
        case .failBody: hasBodyFailed = true
        case .timeOut:
            hasTimedOut = true
            unanswered = []
            refuse()
        }
    }

    private mutating func beginRequest(using generator: inout SplitMix64) {
        guard lingering == nil, !isBody, !hasParserFailed else { return }
        let isTaken = machine.takesRequest()
        #expect(isTaken == !hasSaidClose)
        guard isTaken else { return }
        let isKeepAlive = Int.random(in: 0..<8, using: &generator) > 0
        let isSafe = Bool.random(using: &generator)
        expectsContinue = Int.random(in: 0..<4, using: &generator) == 0
        machine.requestHead(isKeepAlive: isKeepAlive, expectsContinue: expectsContinue, isSafe: isSafe, now: now)
        if !isKeepAlive { mustClose = true }
        hasBegun = true
        unanswered.append((nil, isSafe))
        (lastArrival, stalled) = (now, nil)
        stage = .body(since: now, bytes: 0)
    }

    private mutating func continueRequest(bytes: Int) {
        guard case .body(let since, let count) = stage, lingering == nil, !hasParserFailed else { return }
        machine.requestBody(bytes: bytes, now: now)
        lastArrival = now
        giveLeave()
        stage = .body(since: since, bytes: count + bytes)
    }

    private mutating func giveLeave() {
        if expectsContinue { stalled = nil }
        expectsContinue = false
    }

    private mutating func endRequest() {
        guard isBody, lingering == nil, !hasParserFailed else { return }
        machine.requestEnd(now: now)
        stage = .whole
        unanswered[unanswered.count - 1].arrival = stalled ?? now
    }

    private mutating func beginAnswer() {
        guard !unanswered.isEmpty, !isAnswering, lingering == nil else { return }
        isAnswering = true
        let isLast = unanswered.count == 1
        if isLast, isBody { mustClose = true }
        let saysClose = machine.responseHead()
        #expect(saysClose == (isLast && mustClose))
        if saysClose { hasSaidClose = true }
    }

    private mutating func endAnswer() {
        guard isAnswering else { return }
        isAnswering = false
        unanswered.removeFirst()
        (lastAnswer, lastArrival, stalled) = (now, now, nil)
        answered += 1
        let action = machine.responseEnd(now: now)
        #expect(action == (mustClose && unanswered.isEmpty ? .linger : .keep))
        if hasSaidClose { #expect(action == .linger, "an answer that said so is the last") }
        if action == .linger { lingering = (now, false) }
        if unanswered.isEmpty, lingering == nil { stage = .quiet(since: now) }
    }

    private mutating func rare(using generator: inout SplitMix64) {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0 where !hasParserFailed && lingering == nil:
            hasParserFailed = true
            mustClose = true
            let action = machine.parserError()
            switch stage {
            case .quiet, .header: #expect(action == .refuse)
            case .body: #expect(action == .failBody)
            case .whole: #expect(action == .drop)
            }
            if action == .refuse { refuse() }
        case 1:
            let isFree = machine.quiesce(now: now)
            var isIdle = unanswered.isEmpty
            if case .header = stage, lingering == nil { isIdle = false }
            if !hasBegun, lingering == nil {
                isIdle = false
                quiescing = quiescing ?? now
            }
            #expect(isFree == isIdle)
            mustClose = true
            if isFree { isOver = true }
        case 4 where lingering == nil:
            let mayContinue = machine.takesContinue()
            #expect(mayContinue == expectsContinue)
            giveLeave()
        case 2, 3:
            machine.inputClosed(now: now)
            inputClosed = inputClosed ?? now
        default: break
        }
    }

    private mutating func refuse() {
        #expect(unanswered.isEmpty)
        machine.refused(now: now)
        lingering = (now, false)
    }

    // MARK: What must hold

    /// What the clock brings at a time, by the limits as the documentation has them.
    private func due(at time: NIODeadline, isReadPending: Bool) -> ConnectionStateMachine.TimeAction {
        if let taken, time - taken.time >= .seconds(25) { return .close }
        if let waiting, taken == nil, time - waiting >= .seconds(27) { return .timeOut }
        if let lingering { return lingering.isSent && time - lingering.since >= .seconds(5) ? .close : .none }
        switch stage {
        case .quiet(let since):
            if let quiescing, time - quiescing >= .seconds(1) { return .close }
            return time - since >= .seconds(60) ? .close : .none
        case .header(let since): return time - since >= .seconds(20) ? .refuse : .none
        case .body(let since, let bytes):
            if !isReadPending || expectsContinue {
                guard taken == nil, !isAnswering else { return .none }
                return time - stalled(having: bytes) >= .seconds(27) ? .timeOut : .none
            }
            guard time - since >= .seconds(12), bytes < 3_072 else { return .none }
            return hasBodyFailed ? .close : .failBody
        case .whole:
            guard unanswered.allSatisfy(\.isSafe), !isAnswering, let inputClosed else { return .none }
            return time - inputClosed >= .seconds(2) ? .abandon : .none
        }
    }

    /// Looks ahead, to the instants around each limit, on copies.
    private func check() {
        guard !isOver else { return }
        #expect(machine.isLingering == (lingering != nil))
        let onlyReads = lingering == nil && stage == .whole && unanswered.allSatisfy(\.isSafe)
        #expect(machine.isAbandonable == (hasTimedOut || onlyReads))
        var origins = [now]
        if let taken { origins.append(taken.time) }
        if let waiting { origins.append(waiting) }
        if let stalled { origins.append(stalled) }
        if let lingering { origins.append(lingering.since) }
        if let inputClosed { origins.append(inputClosed) }
        switch stage {
        case .quiet(let since), .header(let since), .body(let since, _): origins.append(since)
        case .whole: break
        }
        for origin in origins {
            for limit in [2, 5, 12, 20, 25, 27, 60, 86_400] as [Int64] {
                for time in [origin + .seconds(limit) - .nanoseconds(1), origin + .seconds(limit)] where time >= now {
                    for isReadPending in [true, false] {
                        var copy = machine
                        let action = copy.tick(now: time, isReadPending: isReadPending)
                        let due = due(at: time, isReadPending: isReadPending)
                        if action != due { Issue.record("\(action) instead of \(due) in \(machine.phase)") }
                    }
                }
            }
        }
    }
}

/// Whatever happens in whatever order, a connection keeps its promises.
@Suite("ConnectionStateMachine, at random")
struct ConnectionModelTests {
    @Test(
        "Each request is answered once, none after the last, and the clock is due when it should be",
        .onDedicatedThreads,
        arguments: 1...4
    )
    func promises(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var (answers, timeOuts, ends) = (0, 0, 0)
        var model = ConnectionModel()
        for _ in 0..<6_000 {
            model.step(using: &generator)
            guard model.isOver else { continue }
            answers += model.answered
            timeOuts += model.hasTimedOut ? 1 : 0
            ends += 1
            model = ConnectionModel()
        }
        // Otherwise the walks went nowhere.
        #expect(answers > 30 && timeOuts > 3 && ends > 20)
    }
}
