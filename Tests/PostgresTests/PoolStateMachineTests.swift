import Testing

@testable import Postgres

/// What happens to a pool, in order, and what it decides each time.
struct PoolScenario: CustomTestStringConvertible, Sendable {
    enum Event: Sendable {
        case lease(UInt64)
        case giveBack(String?)
        case cancel(UInt64)
        case close
    }

    let testDescription: String
    let connectionsMax: Int
    let steps: [(Event, String)]

    init(_ description: String, connectionsMax: Int, _ steps: [(Event, String)]) {
        testDescription = description
        self.connectionsMax = connectionsMax
        self.steps = steps
    }
}

@Suite("PoolStateMachine")
struct PoolStateMachineTests {
    @Test(
        "Each event leads to the one right decision",
        arguments: [
            PoolScenario(
                "Connections are opened on demand, up to the limit",
                connectionsMax: 2,
                [(.lease(1), "open"), (.lease(2), "open"), (.lease(3), "wait")]
            ),
            PoolScenario(
                "A connection that came back is used again, the last one first",
                connectionsMax: 3,
                [
                    (.lease(1), "open"), (.lease(2), "open"), (.giveBack("a"), "none"), (.giveBack("b"), "none"),
                    (.lease(3), "use b"), (.lease(4), "use a"), (.lease(5), "open"), (.lease(6), "wait"),
                ]
            ),
            PoolScenario(
                "Waiters are served first come, first served",
                connectionsMax: 1,
                [
                    (.lease(1), "open"), (.lease(2), "wait"), (.lease(3), "wait"),
                    (.giveBack("a"), "hand a to 2"), (.giveBack("a"), "hand a to 3"), (.giveBack("a"), "none"),
                    (.lease(4), "use a"),
                ]
            ),
            PoolScenario(
                "Who comes while others wait goes to the end of the line",
                connectionsMax: 1,
                [
                    (.lease(1), "open"), (.lease(2), "wait"), (.giveBack("a"), "hand a to 2"), (.lease(3), "wait"),
                    (.lease(4), "wait"), (.giveBack("a"), "hand a to 3"),
                ]
            ),
            PoolScenario(
                "A waiter who is cancelled is passed over",
                connectionsMax: 1,
                [
                    (.lease(1), "open"), (.lease(2), "wait"), (.lease(3), "wait"), (.cancel(2), "cancelled"),
                    (.giveBack("a"), "hand a to 3"), (.giveBack("a"), "none"),
                ]
            ),
            PoolScenario(
                "Who was served, or never waited, can't be cancelled",
                connectionsMax: 1,
                [
                    (.lease(1), "open"), (.cancel(1), "too late"), (.lease(2), "wait"), (.giveBack("a"), "hand a to 2"),
                    (.cancel(2), "too late"), (.cancel(9), "too late"),
                ]
            ),
            PoolScenario(
                "A broken connection gives the waiter leave to open another",
                connectionsMax: 1,
                [
                    (.lease(1), "open"), (.lease(2), "wait"), (.giveBack(nil), "hand nothing to 2"),
                    (.lease(3), "wait"),
                    (.giveBack("b"), "hand b to 3"),
                ]
            ),
            PoolScenario(
                "A broken connection makes room",
                connectionsMax: 1,
                [(.lease(1), "open"), (.giveBack(nil), "none"), (.lease(2), "open"), (.lease(3), "wait")]
            ),
            PoolScenario(
                "Closing hands out idle connections and waiters, and refuses who comes later",
                connectionsMax: 2,
                [
                    (.lease(1), "open"), (.lease(2), "open"), (.giveBack("a"), "none"), (.lease(3), "use a"),
                    (.lease(4), "wait"), (.lease(5), "wait"), (.close, "close [] and refuse [4, 5]"),
                    (.lease(6), "refuse"), (.giveBack("a"), "close a"), (.giveBack(nil), "none"),
                    (.close, "close [] and refuse []"),
                ]
            ),
            PoolScenario(
                "Closing an idle pool closes its connections once",
                connectionsMax: 2,
                [
                    (.lease(1), "open"), (.giveBack("a"), "none"), (.close, "close [a] and refuse []"),
                    (.close, "close [] and refuse []"), (.lease(2), "refuse"),
                ]
            ),
        ]
    )
    func scenario(_ scenario: PoolScenario) {
        var machine = PoolStateMachine<String>(connectionsMax: scenario.connectionsMax)
        for (number, (event, expected)) in scenario.steps.enumerated() {
            let decision = Self.apply(event, to: &machine)
            #expect(decision == expected, "step \(number)")
        }
    }

    private static func apply(_ event: PoolScenario.Event, to machine: inout PoolStateMachine<String>) -> String {
        switch event {
        case .lease(let id):
            switch machine.lease(waiter: id) {
            case .use(let connection): "use \(connection)"
            case .open: "open"
            case .wait: "wait"
            case .refuse: "refuse"
            }
        case .giveBack(let connection):
            switch machine.giveBack(connection) {
            case .none: "none"
            case .hand(let connection, let id): "hand \(connection ?? "nothing") to \(id)"
            case .close(let connection): "close \(connection)"
            }
        case .cancel(let id): machine.cancel(waiter: id) ? "cancelled" : "too late"
        case .close:
            {
                let (idle, waiters) = machine.close()
                return "close [\(idle.joined(separator: ", "))] and refuse \(waiters)"
            }()
        }
    }

    @Test("However leases come and go, no more connections are out than allowed", arguments: 1...8)
    func limitHolds(connectionsMax: Int) {
        var generator = SeededGenerator(seed: UInt64(connectionsMax))
        var machine = PoolStateMachine<Int>(connectionsMax: connectionsMax)
        var (leased, waiting): ([Int], [UInt64]) = ([], [])
        var opened = 0
        func open() -> Int {
            opened += 1
            return opened
        }
        for id in 0..<UInt64(5_000) {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                switch machine.lease(waiter: id) {
                case .use(let connection): leased.append(connection)
                case .open: leased.append(open())
                case .wait: waiting.append(id)
                case .refuse: Issue.record("the pool is open")
                }
            case 2 where !waiting.isEmpty:
                let id = waiting.remove(at: Int.random(in: 0..<waiting.count, using: &generator))
                let isCancelled = machine.cancel(waiter: id)
                #expect(isCancelled)
            default:
                guard !leased.isEmpty else { continue }
                let connection = leased.remove(at: Int.random(in: 0..<leased.count, using: &generator))
                let isBroken = Int.random(in: 0..<4, using: &generator) == 0
                guard case .hand(let handed, let id) = machine.giveBack(isBroken ? nil : connection) else { continue }
                #expect(id == waiting.first)
                waiting.removeAll { $0 == id }
                leased.append(handed ?? open())
            }
            #expect(leased.count <= connectionsMax)
            #expect(Set(leased).count == leased.count)
            #expect(waiting.isEmpty || leased.count == connectionsMax)
        }
    }
}

/// SplitMix64, so that a failure repeats.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
