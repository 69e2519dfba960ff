import TestSupport
import Testing

@testable import Postgres

/// Whatever happens in whatever order, a pool keeps its promises.
@Suite("PoolStateMachine, at random")
struct PoolModelTests {
    /// A pool and what its owner would know of it.
    private struct Model {
        var machine: PoolStateMachine
        let limits: PoolLimits
        var now = ContinuousClock.now
        var opening: Set<UInt64> = []
        /// The user of each open connection.
        var users: [UInt64: [(id: UInt64, demand: PoolStateMachine.Demand)]] = [:]
        var waiting: [(id: UInt64, demand: PoolStateMachine.Demand, start: ContinuousClock.Instant)] = []
        var blocked: Set<UInt64> = []
        /// What has happened.
        var (assignedCount, timedOutCount, unreachableCount, closedCount) = (0, 0, 0, 0)

        init(maxConnections: Int) {
            var limits = PoolLimits()
            (limits.maxConnections, limits.pipelineDepth) = (maxConnections, 3)
            self.limits = limits
            machine = PoolStateMachine(limits: limits)
        }

        mutating func settle() {
            while let action = machine.nextAction(now: now) {
                switch action {
                case .assign(let id, let connection, _): assign(id, to: connection)
                case .refuse(let id, let reason): refuse(id, reason)
                case .open(let id):
                    let isNew = opening.insert(id).inserted
                    #expect(isNew && users[id] == nil)
                case .close(let id):
                    let last = users.removeValue(forKey: id)
                    #expect(last?.isEmpty == true && !blocked.contains(id))
                    closedCount += 1
                }
            }
            #expect(users.count + opening.count <= limits.maxConnections)
            #expect(machine.connectionCount == users.count + opening.count)
            #expect(machine.waiterCount == waiting.count)
            #expect(!waiting.contains { now - $0.start >= .seconds(2) }, "nobody waits for longer than two seconds")
        }

        private mutating func refuse(_ id: UInt64, _ reason: PoolStateMachine.Refusal) {
            guard let position = waiting.firstIndex(where: { $0.id == id }) else {
                Issue.record("refused who did not wait")
                return
            }
            let waiter = waiting.remove(at: position)
            switch reason {
            case .timedOut:
                #expect(now - waiter.start >= .seconds(2))
                timedOutCount += 1
            case .cannotConnect:
                #expect(users.isEmpty)
                unreachableCount += 1
            case .closed: Issue.record("the pool is open")
            }
        }

        private mutating func assign(_ id: UInt64, to connection: UInt64) {
            let lent = users.values.count { $0.first?.demand == .lease }
            let isAllLent = lent >= min(limits.maxLeases, max(1, users.count - 1))
            let position = waiting.firstIndex { $0.id == id || $0.demand == .statement || !isAllLent }
            guard let position, waiting[position].id == id else {
                Issue.record("not first come, first served")
                return
            }
            let waiter = waiting.remove(at: position)
            #expect(waiter.demand == .statement || lent < limits.maxLeases)
            guard let others = users[connection] else {
                Issue.record("assigned a connection that is not open")
                return
            }
            #expect(!others.contains { $0.demand == .lease }, "a lease shares with nobody")
            #expect(waiter.demand == .statement || others.isEmpty, "a lease shares with nobody")
            #expect(others.count < limits.pipelineDepth)
            #expect(!blocked.contains(connection))
            users[connection]?.append((waiter.id, waiter.demand))
            assignedCount += 1
        }
    }

    @Test("No lease is shared, no caller is overtaken, no limit is passed", arguments: 1...6)
    func promises(maxConnections: Int) {
        var generator = SplitMix64(seed: UInt64(maxConnections))
        var model = Model(maxConnections: maxConnections)
        for id in 0..<UInt64(6_000) {
            model.now += .milliseconds(Int.random(in: 0...5, using: &generator))
            step(id, in: &model, using: &generator)
            model.settle()
        }
        finish(&model)
        #expect(model.waiting.isEmpty)
        // All that the walk is about has happened.
        #expect(model.assignedCount > 500 && model.timedOutCount > 20 && model.unreachableCount > 0)
        #expect(model.closedCount > 0)
    }

    private func step(_ id: UInt64, in model: inout Model, using generator: inout SplitMix64) {
        switch Int.random(in: 0..<15, using: &generator) {
        case 0...3:
            let demand: PoolStateMachine.Demand = Bool.random(using: &generator) ? .statement : .lease
            let isTaken = model.machine.request(demand, as: id, now: model.now)
            #expect(isTaken)
            model.waiting.append((id, demand, model.now))
        case 4 where !model.waiting.isEmpty:
            let waiter = model.waiting.remove(at: Int.random(in: 0..<model.waiting.count, using: &generator))
            let isCancelled = model.machine.cancel(waiter.id)
            #expect(isCancelled)
        case 5 where !model.opening.isEmpty:
            guard let id = model.opening.min().flatMap({ model.opening.remove($0) }) else { return }
            model.machine.failedToOpen(id, now: model.now, jitter: .random(in: 0...1, using: &generator))
        case 6, 7: openOne(&model)
        case 8:
            guard let id = model.users.keys.sorted().randomElement(using: &generator) else { return }
            model.users[id] = nil
            model.blocked.remove(id)
            model.machine.lost(id)
        case 9:
            guard let id = model.users.keys.sorted().randomElement(using: &generator) else { return }
            model.blocked.insert(id)
            model.machine.setBlocked(id, true)
        case 10: unblockAll(&model)
        case 11 where Int.random(in: 0..<8, using: &generator) == 0:
            // Long enough for callers to be refused, for connections to be closed that nobody uses, and for old ones.
            let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(61), .seconds(3_601)]
            model.now += pauses.randomElement(using: &generator) ?? .zero
        default: endOne(&model, using: &generator)
        }
    }

    private func unblockAll(_ model: inout Model) {
        for id in model.blocked { model.machine.setBlocked(id, false) }
        model.blocked = []
    }

    private func openOne(_ model: inout Model) {
        guard let id = model.opening.min() else { return }
        model.opening.remove(id)
        model.users[id] = []
        model.machine.opened(id, now: model.now, jitter: 0.5)
    }

    private func endOne(_ model: inout Model, using generator: inout SplitMix64) {
        let used = model.users.filter { !$0.value.isEmpty }.keys.sorted()
        guard let id = used.randomElement(using: &generator), let user = model.users[id]?.removeFirst() else { return }
        switch user.demand {
        case .statement: model.machine.released(id, now: model.now)
        case .lease: model.machine.returned(id, now: model.now)
        }
    }

    /// Lets everything succeed until no caller waits.
    private func finish(_ model: inout Model) {
        var generator = SplitMix64(seed: 0)
        unblockAll(&model)
        for _ in 0..<100_000 where !model.waiting.isEmpty {
            model.now += .milliseconds(1)
            openOne(&model)
            endOne(&model, using: &generator)
            model.settle()
        }
    }
}
