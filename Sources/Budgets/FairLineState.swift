import DequeModule

/// Decides who is next in a ``FairLine``.
///
/// It does not wait.
struct FairLineState<Waiter: Hashable & Sendable>: Sendable {
    /// The waiters of one group: those of each member in the order in which they came.
    private struct Group {
        var waiting: [String: Deque<Waiter>] = [:]
        /// Members with waiters, the next one first.
        var turns: Deque<String> = []
        var count = 0
    }

    enum Entrance: Equatable {
        /// There is a place at once.
        case admitted
        case waits
        case refused(FairLineRefusal)
    }

    let limits: FairLine.Limits
    private var groups: [String: Group] = [:]
    /// Groups with waiters, the next one first.
    private var turns: Deque<String> = []
    private(set) var waitingCount = 0
    private(set) var takenCount = 0

    init(limits: FairLine.Limits) {
        self.limits = limits
    }

    /// Whether somebody who comes now is let in or may wait.
    func refusal(of claimant: FairLine.Claimant) -> FairLineRefusal? {
        if takenCount < limits.places { return nil }
        let group = groups[claimant.group]
        if group?.count ?? 0 >= limits.waitingPerGroup { return .ownLineFull }
        if group?.waiting[claimant.member]?.count ?? 0 >= limits.waitingPerMember { return .ownLineFull }
        return waitingCount >= limits.waiting ? .full : nil
    }

    /// Somebody comes.
    mutating func enter(_ waiter: Waiter, _ claimant: FairLine.Claimant) -> Entrance {
        if let refusal = refusal(of: claimant) { return .refused(refusal) }
        if takenCount < limits.places {
            takenCount += 1
            return .admitted
        }
        var group = groups[claimant.group] ?? Group()
        if group.count == 0 { turns.append(claimant.group) }
        if group.waiting[claimant.member] == nil { group.turns.append(claimant.member) }
        group.waiting[claimant.member, default: []].append(waiter)
        group.count += 1
        groups[claimant.group] = group
        waitingCount += 1
        return .waits
    }

    /// Somebody leaves their place.
    ///
    /// - Returns: Who gets it; nil when nobody waits.
    mutating func leave() -> Waiter? {
        takenCount -= 1
        guard let name = turns.popFirst(), var group = groups[name], let member = group.turns.popFirst() else {
            return nil
        }
        let waiter = group.waiting[member]?.popFirst()
        if group.waiting[member]?.isEmpty == true {
            group.waiting[member] = nil
        } else {
            group.turns.append(member)
        }
        group.count -= 1
        groups[name] = group.count > 0 ? group : nil
        if group.count > 0 { turns.append(name) }
        waitingCount -= 1
        takenCount += 1
        return waiter
    }

    /// Somebody gives up waiting.
    ///
    /// - Returns: Whether they waited.
    mutating func giveUp(_ waiter: Waiter, _ claimant: FairLine.Claimant) -> Bool {
        guard var group = groups[claimant.group], let index = group.waiting[claimant.member]?.firstIndex(of: waiter)
        else { return false }
        group.waiting[claimant.member]?.remove(at: index)
        if group.waiting[claimant.member]?.isEmpty == true {
            group.waiting[claimant.member] = nil
            group.turns.removeAll { $0 == claimant.member }
        }
        group.count -= 1
        groups[claimant.group] = group.count > 0 ? group : nil
        if group.count == 0 { turns.removeAll { $0 == claimant.group } }
        waitingCount -= 1
        return true
    }
}
