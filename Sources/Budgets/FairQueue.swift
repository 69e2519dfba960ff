import DequeModule

/// Decides who is next to get a permit of a ``FairSemaphore``.
///
/// It is fair queueing (RFC 970) in two levels. A full queue drops the last waiter of its longest group (P. E. McKenney, "Stochastic fairness queueing", 1990). It is a
/// plain value, and does not wait.
struct FairQueue<Waiter: Hashable & Sendable>: Sendable {
    /// The waiters of one group: those of each member in the order in which they came.
    private struct Group {
        var waiting: [String: Deque<Waiter>] = [:]
        /// Members with waiters, the next one first.
        var turns: Deque<String> = []
        var count = 0
    }

    enum Entrance: Equatable {
        /// There is a permit at once.
        case admitted
        case waits
        /// They replace another waiter, who is refused.
        case displaces(Waiter, TooBusy)
        case refused(TooBusy)
    }

    private let name: String
    private let limits: FairSemaphore.Limits
    private var groups: [String: Group] = [:]
    /// Groups with waiters, the next one first.
    private var turns: Deque<String> = []
    private(set) var waitingCount = 0
    private(set) var permitsInUse = 0

    init(_ name: String, limits: FairSemaphore.Limits) {
        self.name = name
        self.limits = limits
    }

    private var ownQueueFull: TooBusy { .holder(limit: "\(name)_PER_CALLER") }

    /// Why a new caller may not wait; nil when it may, or need not.
    func refusal(of caller: FairSemaphore.Caller) -> TooBusy? {
        if permitsInUse < limits.permits { return nil }
        let group = groups[caller.group]
        if group?.count ?? 0 >= limits.waitingPerGroup { return ownQueueFull }
        if group?.waiting[caller.member]?.count ?? 0 >= limits.waitingPerMember { return ownQueueFull }
        guard waitingCount >= limits.waiting else { return nil }
        // The first caller of a new group gets a turn soon, so it displaces the end of a long queue.
        return group == nil && longestGroup != nil ? nil : .everyone(limit: name)
    }

    /// The group with the most waiters, of several the one whose turn is last; nil when each has one.
    private var longestGroup: String? {
        let count = { (name: String) in groups[name]?.count ?? 0 }
        return turns.reversed().max { count($0) < count($1) }.flatMap { count($0) > 1 ? $0 : nil }
    }

    /// Adds a caller.
    mutating func enter(_ waiter: Waiter, _ caller: FairSemaphore.Caller) -> Entrance {
        if let refusal = refusal(of: caller) { return .refused(refusal) }
        if permitsInUse < limits.permits {
            permitsInUse += 1
            return .admitted
        }
        let displaced = waitingCount >= limits.waiting ? longestGroup.flatMap { removeLast(of: $0) } : nil
        var group = groups[caller.group] ?? Group()
        if group.count == 0 { turns.append(caller.group) }
        if group.waiting[caller.member] == nil { group.turns.append(caller.member) }
        group.waiting[caller.member, default: []].append(waiter)
        group.count += 1
        groups[caller.group] = group
        waitingCount += 1
        return displaced.map { .displaces($0, ownQueueFull) } ?? .waits
    }

    /// Takes the last waiter of the member with the most from a group.
    private mutating func removeLast(of name: String) -> Waiter? {
        guard let group = groups[name] else { return nil }
        let count = { (member: String) in group.waiting[member]?.count ?? 0 }
        guard let member = group.turns.reversed().max(by: { count($0) < count($1) }),
            let waiter = group.waiting[member]?.last,
            giveUp(waiter, FairSemaphore.Caller(group: name, member: member))
        else { return nil }
        return waiter
    }

    /// A permit is released.
    ///
    /// - Returns: The waiter who gets it; nil when there is none.
    mutating func leave() -> Waiter? {
        permitsInUse -= 1
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
        permitsInUse += 1
        return waiter
    }

    /// Removes a caller that gives up waiting.
    ///
    /// - Returns: Whether it waited.
    mutating func giveUp(_ waiter: Waiter, _ caller: FairSemaphore.Caller) -> Bool {
        guard var group = groups[caller.group], let index = group.waiting[caller.member]?.firstIndex(of: waiter)
        else { return false }
        group.waiting[caller.member]?.remove(at: index)
        if group.waiting[caller.member]?.isEmpty == true {
            group.waiting[caller.member] = nil
            group.turns.removeAll { $0 == caller.member }
        }
        group.count -= 1
        groups[caller.group] = group.count > 0 ? group : nil
        if group.count == 0 { turns.removeAll { $0 == caller.group } }
        waitingCount -= 1
        return true
    }
}
