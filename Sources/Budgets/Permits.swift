import Synchronization

/// A counting semaphore that refuses instead of waiting.
///
/// Its permits stand for what is limited, such as connections or bytes of memory.
///
/// Unless one holder may have all, a holder has no more permits than are still free for others. So some holders who take
/// all they can leave as much for the next one as each of them has (A. K. Choudhury and E. L. Hahne, "Dynamic queue length
/// thresholds for shared-memory packet switches", 1998).
package final class Permits<Holder: Hashable & Sendable>: Sendable {
    private struct State {
        var inUse = 0
        var inUseByHolder: [Holder: Int] = [:]
    }

    private let name: String
    private let holderKind: String
    package let limits: PermitLimits
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: What the limit is called where it refuses, such as `UPLOADS_AT_ONCE`.
    ///   - holderKind: The kind of a holder, such as `USER`. It makes the name of the limit for one holder.
    ///   - limits: The limits.
    package init(_ name: String, per holderKind: String, _ limits: PermitLimits) {
        self.name = name
        self.holderKind = holderKind
        self.limits = limits
    }

    /// How many permits are in use.
    package var inUse: Int { state.withLock { $0.inUse } }

    /// How many permits one holder has.
    package func inUse(by holder: Holder) -> Int { state.withLock { $0.inUseByHolder[holder] ?? 0 } }

    /// Acquires some permits.
    ///
    /// - Parameters:
    ///   - count: How many: all of them or none.
    ///   - holder: The holder of the permits.
    /// - Returns: The permits, which are released when this is dropped.
    /// - Throws: `TooBusy`.
    package func acquire(_ count: Int = 1, for holder: Holder) throws(TooBusy) -> Permit<Holder> {
        let permit = none(for: holder)
        try permit.grow(by: count)
        return permit
    }

    /// No permits yet, for a holder who acquires them one after another.
    package func none(for holder: Holder) -> Permit<Holder> { Permit(of: self, for: holder) }

    fileprivate func acquire(_ count: Int, for holder: Holder, leavesSome: Bool) throws(TooBusy) {
        let refusal = state.withLock { state -> TooBusy? in
            let own = state.inUseByHolder[holder, default: 0]
            if count > limits.perHolder - own { return .holder(limit: "\(name)_PER_\(holderKind)") }
            let free = limits.total - state.inUse
            if count > free { return .everyone(limit: name) }
            // The first permits of a holder may be the last ones.
            if leavesSome, limits.perHolder < limits.total, own > 0,
                (own + count - 1) / limits.thresholdFactor >= free
            {
                return .everyone(limit: name)
            }
            state.inUse += count
            if own + count > 0 { state.inUseByHolder[holder] = own + count }
            return nil
        }
        if let refusal { throw refusal }
    }

    fileprivate func release(_ count: Int, of holder: Holder) {
        guard count > 0 else { return }
        state.withLock { state in
            state.inUse -= count
            let own = state.inUseByHolder[holder, default: 0] - count
            state.inUseByHolder[holder] = own > 0 ? own : nil
        }
    }
}

/// How many permits there are.
package struct PermitLimits: Sendable {
    /// The most permits in use at once.
    package var total: Int
    /// The most permits of one holder.
    package var perHolder: Int
    /// How many times as many as are still free a holder may have.
    ///
    /// Alone, it can then have `thresholdFactor / (thresholdFactor + 1)` of all.
    package var thresholdFactor: Int

    package init(total: Int, perHolder: Int = .max, thresholdFactor: Int = 1) {
        self.total = total
        self.perHolder = perHolder
        self.thresholdFactor = thresholdFactor
    }
}

/// The permits that one holder has acquired for one purpose: any number, which can change.
///
/// They are released when this is dropped.
package final class Permit<Holder: Hashable & Sendable>: Sendable {
    private let permits: Permits<Holder>
    private let holder: Holder
    private let acquired = Mutex(0)

    fileprivate init(of permits: Permits<Holder>, for holder: Holder) {
        self.permits = permits
        self.holder = holder
    }

    deinit {
        release()
    }

    /// How many it has.
    package var count: Int { acquired.withLock { $0 } }

    /// Acquires more.
    ///
    /// - Parameters:
    ///   - more: How many.
    ///   - leavesSome: Whether it leaves as many for others as its holder has.
    /// - Throws: `TooBusy` when that many are not free. Then none is acquired.
    package func grow(by more: Int, leavesSome: Bool = true) throws(TooBusy) {
        try permits.acquire(more, for: holder, leavesSome: leavesSome)
        acquired.withLock { $0 += more }
    }

    /// Acquires more, or releases some.
    ///
    /// - Parameters:
    ///   - count: How many it has then.
    ///   - leavesSome: Whether it leaves as many for others as its holder has.
    /// - Throws: `TooBusy` when there are not as many. Then it has what it had.
    package func resize(to count: Int, leavesSome: Bool = true) throws(TooBusy) {
        let missing = count - self.count
        if missing > 0 { try grow(by: missing, leavesSome: leavesSome) } else { release(downTo: count) }
    }

    /// Releases what it has beyond a number.
    ///
    /// - Parameter count: How many it keeps, if it has as many.
    package func release(downTo count: Int = 0) {
        let surplus = acquired.withLock { acquired in
            defer { acquired = min(acquired, count) }
            return acquired - min(acquired, count)
        }
        permits.release(surplus, of: holder)
    }
}

/// All permits are in use.
///
/// It has the limit's name, such as `UPLOADS_AT_ONCE`.
package enum TooBusy: Error, Equatable {
    /// The holder has as much as one may have.
    case holder(limit: String)
    /// All holders together have everything, or what is left is for others.
    case everyone(limit: String)
}
