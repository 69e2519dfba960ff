import Testing

@testable import Postgres

/// What happens to a pool, in order, and what it decides each time.
struct PoolScenario: CustomTestStringConvertible, Sendable {
    enum Event: Sendable {
        case statement(UInt64)
        case firstStatement(UInt64)
        case lease(UInt64)
        case cancel(UInt64)
        case opened(UInt64)
        case failedToOpen(UInt64)
        case released(UInt64)
        case returned(UInt64)
        case lost(UInt64)
        case block(UInt64)
        case unblock(UInt64)
        /// The clock moves on by so many milliseconds.
        case wait(Int)
        case close
    }

    let testDescription: String
    let limits: PoolLimits
    let steps: [(Event, [String])]

    init(_ description: String, limits: (inout PoolLimits) -> Void, _ steps: [(Event, [String])]) {
        testDescription = description
        var poolLimits = PoolLimits()
        poolLimits.maxConnections = 2
        poolLimits.minConnections = 1
        poolLimits.pipelineDepth = 2
        limits(&poolLimits)
        self.limits = poolLimits
        self.steps = steps
    }
}

@Suite("PoolStateMachine")
struct PoolStateMachineTests {
    @Test(
        "Each event leads to the one right decision",
        arguments: [
            PoolScenario(
                "Connections are opened on demand, as many as the waiters need",
                limits: { $0.maxConnections = 3 },
                [
                    (.statement(1), ["open 1"]), (.statement(2), []), (.statement(3), ["open 2"]),
                    (.lease(4), ["open 3"]), (.lease(5), []),
                    (.opened(1), ["1 on 1", "2 on 1"]), (.opened(2), ["3 on 2"]), (.opened(3), ["4 on 3"]),
                ]
            ),
            PoolScenario(
                "An urgent statement is the next to run, though the line is full",
                limits: { ($0.maxConnections, $0.pipelineDepth, $0.maxWaiters) = (1, 1, 2) },
                [
                    (.statement(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), []), (.statement(3), []),
                    (.statement(4), []), (.statement(5), ["full"]), (.firstStatement(6), []),
                    (.released(1), ["6 on 1"]), (.released(1), ["2 on 1"]), (.returned(1), ["3 on 1"]),
                ]
            ),
            PoolScenario(
                "Behind urgent statements, others are refused in time",
                limits: { ($0.maxConnections, $0.leaseTimeout) = (1, .seconds(2)) },
                [
                    (.lease(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.statement(2), []), (.wait(1_500), []),
                    (.firstStatement(3), []), (.wait(500), ["refuse 2: timedOut"]), (.cancel(3), ["cancelled"]),
                ]
            ),
            PoolScenario(
                "An urgent statement fails like all others when no connection can be opened",
                limits: { _ in },
                [
                    (.statement(1), ["open 1"]), (.failedToOpen(1), ["refuse 1: cannotConnect"]),
                    (.firstStatement(2), []), (.wait(50), ["open 2"]), (.opened(2), ["2 on 2"]),
                ]
            ),
            PoolScenario(
                "Statements share connections, the least busy first; a lease has one to itself",
                limits: { _ in },
                [
                    (.lease(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.statement(2), ["open 2"]),
                    (.opened(2), ["2 on 2"]), (.statement(3), ["3 on 2"]), (.statement(4), []),
                    (.returned(1), ["4 on 1"]), (.statement(5), ["5 on 1"]), (.statement(6), []),
                    (.released(2), ["6 on 2"]), (.released(1), []), (.released(1), []), (.lease(7), ["7 on 1"]),
                ]
            ),
            PoolScenario(
                "Who comes first is served first, also a lease that needs an idle connection",
                limits: { $0.maxConnections = 1 },
                [
                    (.statement(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), []), (.statement(3), []),
                    (.lease(4), []), (.released(1), ["2 on 1"]), (.returned(1), ["3 on 1"]), (.statement(5), []),
                    (.released(1), ["4 on 1"]), (.returned(1), ["5 on 1"]),
                ]
            ),
            PoolScenario(
                "A caller that stops waiting is skipped; one that was served can't stop",
                limits: { $0.maxConnections = 1 },
                [
                    (.lease(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), []), (.lease(3), []),
                    (.cancel(2), ["cancelled"]), (.cancel(1), ["too late"]), (.cancel(9), ["too late"]),
                    (.returned(1), ["3 on 1"]),
                ]
            ),
            PoolScenario(
                "A caller that waits for too long is refused, and the queue moves on",
                limits: { ($0.maxConnections, $0.leaseTimeout) = (1, .seconds(2)) },
                [
                    (.lease(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), []), (.wait(1000), []),
                    (.lease(3), []), (.wait(999), []), (.wait(1), ["refuse 2: timedOut"]), (.returned(1), ["3 on 1"]),
                ]
            ),
            PoolScenario(
                "No more than allowed wait for the same",
                limits: { ($0.maxConnections, $0.maxWaiters) = (1, 2) },
                [
                    (.lease(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), []), (.statement(3), []),
                    (.lease(4), []), (.lease(5), ["full"]), (.statement(6), []), (.statement(7), ["full"]),
                    (.returned(1), ["2 on 1"]), (.lease(8), []), (.lease(9), ["full"]),
                ]
            ),
            PoolScenario(
                "One connection is never lent, so that no statement waits for a flood of leases",
                limits: { $0.maxConnections = 3 },
                [
                    (.lease(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), ["open 2"]),
                    (.opened(2), ["2 on 2"]), (.lease(3), []), (.lease(4), []), (.statement(5), ["open 3"]),
                    (.opened(3), ["5 on 3"]), (.statement(6), ["6 on 3"]), (.statement(7), []),
                    (.released(3), ["7 on 3"]),
                    (.returned(2), ["3 on 2"]), (.statement(8), []), (.lost(1), ["open 4"]), (.opened(4), ["4 on 4"]),
                    (.released(3), ["8 on 3"]),
                ]
            ),
            PoolScenario(
                "One is kept for statements also where no more can be opened",
                limits: { ($0.maxConnections, $0.maxBackOff) = (4, .milliseconds(50)) },
                [
                    (.lease(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), ["open 2"]),
                    (.opened(2), ["2 on 2"]), (.lease(3), ["open 3"]), (.failedToOpen(3), []), (.statement(4), []),
                    (.returned(2), ["4 on 2"]), (.statement(5), ["5 on 2"]), (.wait(50), ["open 4"]),
                    (.failedToOpen(4), []), (.returned(1), ["3 on 1"]), (.lease(6), []), (.wait(100), ["open 5"]),
                    (.opened(5), ["6 on 5"]),
                ]
            ),
            PoolScenario(
                "A lease that may be lent a connection is not overtaken",
                limits: { $0.maxConnections = 3 },
                [
                    (.statement(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), ["open 2"]),
                    (.statement(3), ["open 3"]), (.lease(4), []), (.opened(2), ["2 on 2", "3 on 1"]),
                    (.statement(5), []),
                    (.opened(3), ["4 on 3"]), (.released(1), ["5 on 1"]),
                ]
            ),
            PoolScenario(
                "A slow statement delays no other, and another connection is opened",
                limits: { $0.slowness = .milliseconds(20) },
                [
                    (.statement(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.wait(19), []),
                    (.statement(2), ["2 on 1"]), (.released(1), []), (.wait(20), []), (.statement(3), ["open 2"]),
                    (.opened(2), ["3 on 2"]), (.wait(20), []), (.statement(4), []), (.released(1), ["4 on 1"]),
                ]
            ),
            PoolScenario(
                "A connection that is lost makes room for another",
                limits: { $0.maxConnections = 1 },
                [
                    (.lease(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), []), (.lost(1), ["open 2"]),
                    (.opened(2), ["2 on 2"]), (.lost(2), []), (.statement(3), ["open 3"]),
                ]
            ),
            PoolScenario(
                "A blocked connection takes no statements, and is not idle",
                limits: { ($0.maxConnections, $0.idleTimeout, $0.minConnections) = (1, .seconds(1), 0) },
                [
                    (.statement(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.block(1), []), (.released(1), []),
                    (.statement(2), []), (.wait(1500), []), (.unblock(1), ["2 on 1"]),
                ]
            ),
            PoolScenario(
                "When connecting fails, waiting callers fail; later ones wait for the next attempt",
                limits: { ($0.maxConnections, $0.maxBackOff) = (2, .milliseconds(100)) },
                [
                    (.lease(1), ["open 1"]), (.statement(2), ["open 2"]), (.failedToOpen(1), []),
                    (.failedToOpen(2), ["refuse 1: cannotConnect", "refuse 2: cannotConnect"]),
                    (.lease(3), []), (.wait(99), []), (.lease(4), []), (.wait(1), ["open 3"]), (.lease(5), []),
                    (
                        .failedToOpen(3),
                        ["refuse 3: cannotConnect", "refuse 4: cannotConnect", "refuse 5: cannotConnect"]
                    ),
                    (.lease(6), []), (.wait(100), ["open 4"]), (.opened(4), ["6 on 4"]), (.lease(7), ["open 5"]),
                ]
            ),
            PoolScenario(
                "While one connection works, a failed attempt to open another fails no caller",
                limits: { $0.maxBackOff = .milliseconds(50) },
                [
                    (.lease(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), ["open 2"]), (.failedToOpen(2), []),
                    (.wait(49), []), (.wait(1), ["open 3"]), (.returned(1), ["2 on 1"]),
                ]
            ),
            PoolScenario(
                "Idle connections are closed after a while, but for those that are kept warm",
                limits: { $0.idleTimeout = .seconds(60) },
                [
                    (.lease(1), ["open 1"]), (.lease(2), ["open 2"]), (.opened(1), ["1 on 1"]),
                    (.opened(2), ["2 on 2"]),
                    (.returned(2), []), (.wait(30_000), []), (.returned(1), []), (.wait(29_999), []),
                    (.wait(1), ["close 2"]), (.wait(100_000), []), (.lease(3), ["3 on 1"]),
                ]
            ),
            PoolScenario(
                "An old connection is closed once it is idle, and takes no statements before",
                limits: { ($0.maxConnections, $0.lifetime) = (1, .seconds(100)) },
                [
                    (.statement(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.wait(100_000), []), (.statement(2), []),
                    (.released(1), ["close 1", "open 2"]), (.opened(2), ["2 on 2"]), (.released(2), []),
                    (.wait(100_000), ["close 2"]),
                ]
            ),
            PoolScenario(
                "A closed pool refuses whoever waits or comes, and closes what is idle or comes back",
                limits: { _ in },
                [
                    (.lease(1), ["open 1"]), (.opened(1), ["1 on 1"]), (.lease(2), ["open 2"]),
                    (.opened(2), ["2 on 2"]),
                    (.returned(2), []), (.lease(3), ["3 on 2"]), (.lease(4), []), (.statement(5), []),
                    (.returned(2), ["4 on 2"]), (.close, ["refuse 5: closed"]), (.lease(6), ["refuse 6: closed"]),
                    (.returned(1), ["close 1"]), (.returned(2), ["close 2"]), (.close, []),
                ]
            ),
        ]
    )
    func scenario(_ scenario: PoolScenario) {
        var machine = PoolStateMachine(limits: scenario.limits)
        var now = ContinuousClock.now
        for (number, (event, expected)) in scenario.steps.enumerated() {
            let decisions = Self.apply(event, to: &machine, now: &now)
            #expect(decisions == expected, "step \(number)")
        }
    }

    @Test("The time of the next deadline is known")
    func deadlines() {
        var limits = PoolLimits()
        (limits.leaseTimeout, limits.slowness, limits.maxConnections) = (.seconds(2), .milliseconds(20), 1)
        (limits.idleTimeout, limits.lifetime, limits.minConnections) = (.seconds(60), .seconds(100), 0)
        var machine = PoolStateMachine(limits: limits)
        var now = ContinuousClock.now
        let start = now
        #expect(machine.nextDeadline(now: now) == nil)
        _ = Self.apply(.statement(1), to: &machine, now: &now)
        #expect(machine.nextDeadline(now: now) == start + .seconds(2))
        _ = Self.apply(.opened(1), to: &machine, now: &now)
        #expect(machine.nextDeadline(now: now) == nil)
        _ = Self.apply(.lease(2), to: &machine, now: &now)
        #expect(machine.nextDeadline(now: now) == start + .milliseconds(20))
        _ = Self.apply(.wait(20), to: &machine, now: &now)
        #expect(machine.nextDeadline(now: now) == start + .seconds(2))
        _ = Self.apply(.cancel(2), to: &machine, now: &now)
        _ = Self.apply(.released(1), to: &machine, now: &now)
        #expect(machine.nextDeadline(now: now) == now + .seconds(60))
        _ = Self.apply(.wait(50_000), to: &machine, now: &now)
        _ = Self.apply(.lease(3), to: &machine, now: &now)
        _ = Self.apply(.returned(1), to: &machine, now: &now)
        #expect(machine.nextDeadline(now: now) == start + .seconds(100))
    }

    private static func apply(
        _ event: PoolScenario.Event,
        to machine: inout PoolStateMachine,
        now: inout ContinuousClock.Instant
    ) -> [String] {
        switch event {
        case .statement(let id): if !machine.request(.statement, as: id, now: now) { return ["full"] }
        case .firstStatement(let id): machine.requestFirst(as: id, now: now)
        case .lease(let id): if !machine.request(.lease, as: id, now: now) { return ["full"] }
        case .cancel(let id): return [machine.cancel(id) ? "cancelled" : "too late"]
        case .opened(let id): machine.opened(id, now: now, jitter: 0)
        case .failedToOpen(let id): machine.failedToOpen(id, now: now, jitter: 0)
        case .released(let id): machine.released(id, now: now)
        case .returned(let id): machine.returned(id, now: now)
        case .lost(let id): machine.lost(id)
        case .block(let id): machine.setBlocked(id, true)
        case .unblock(let id): machine.setBlocked(id, false)
        case .wait(let milliseconds): now += .milliseconds(milliseconds)
        case .close: machine.close()
        }
        var decisions: [String] = []
        while let action = machine.nextAction(now: now) {
            switch action {
            case .assign(let waiter, let connection, _): decisions.append("\(waiter) on \(connection)")
            case .refuse(let waiter, let reason): decisions.append("refuse \(waiter): \(reason)")
            case .open(let connection): decisions.append("open \(connection)")
            case .close(let connection): decisions.append("close \(connection)")
            }
        }
        return decisions
    }
}
