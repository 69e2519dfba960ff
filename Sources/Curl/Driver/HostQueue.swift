import DequeModule

/// Which requests to a host may begin, and which wait, first come, first served.
struct HostQueue<ID: Hashable> {
    private let limit: Int
    private var active: Set<ID> = []
    private var waiting: Deque<ID> = []

    /// - Parameter limit: How many requests may be under way, at least 1.
    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { active.isEmpty && waiting.isEmpty }

    /// Asks to begin.
    ///
    /// - Returns: Whether it may begin now.
    mutating func enter(_ id: ID) -> Bool {
        guard active.count < limit else {
            waiting.append(id)
            return false
        }
        active.insert(id)
        return true
    }

    /// Leaves, whether it had begun or waited.
    ///
    /// - Returns: Who may begin instead.
    mutating func leave(_ id: ID) -> ID? {
        guard active.remove(id) != nil else {
            waiting.removeAll { $0 == id }
            return nil
        }
        guard let next = waiting.popFirst() else { return nil }
        active.insert(next)
        return next
    }
}
