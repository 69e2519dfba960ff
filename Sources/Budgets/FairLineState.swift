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
        /// They wait in place of another one, who is refused.
        case displaces(Waiter)
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
        guard waitingCount >= limits.waiting else { return nil }
        // Who begins a line has a turn soon, so the end of a long line makes room.
        return group == nil && longestGroup != nil ? nil : .full
    }

    /// The group with the most waiters, of several the one whose turn is last; nil when each has one.
    private var longestGroup: String? {
        let count = { (name: String) in groups[name]?.count ?? 0 }
        return turns.reversed().max { count($0) < count($1) }.flatMap { count($0) > 1 ? $0 : nil }
    }

    /// Somebody comes.
    mutating func enter(_ waiter: Waiter, _ claimant: FairLine.Claimant) -> Entrance {
        if let refusal = refusal(of: claimant) { return .refused(refusal) }
        if takenCount < limits.places {
            takenCount += 1
            return .admitted
        }
        let displaced = waitingCount >= limits.waiting ? longestGroup.flatMap { removeLast(of: $0) } : nil
        var group = groups[claimant.group] ?? Group()
        if group.count == 0 { turns.append(claimant.group) }
        if group.waiting[claimant.member] == nil { group.turns.append(claimant.member) }
        group.waiting[claimant.member, default: []].append(waiter)
        group.count += 1
        groups[claimant.group] = group
        waitingCount += 1
        return displaced.map { .displaces($0) } ?? .waits
    }

    /// Takes the last waiter of the member with the most from a group.
    private mutating func removeLast(of name: String) -> Waiter? {
        guard let group = groups[name] else { return nil }
        let count = { (member: String) in group.waiting[member]?.count ?? 0 }
        guard let member = group.turns.reversed().max(by: { count($0) < count($1) }),
            let waiter = group.waiting[member]?.last,
            giveUp(waiter, FairLine.Claimant(group: name, member: member))
        else { return nil }
        return waiter
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
