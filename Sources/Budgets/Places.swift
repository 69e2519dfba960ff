import Synchronization

/// A bounded number of places, of which each holder may take only some.
///
/// Nobody waits: who finds no place is refused at once. Unless one holder may have all, a holder has no more places than
/// are still free for others. So some holders who take all they can leave as much for the next one as each of them has
/// (A. K. Choudhury and E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998).
package final class Places<Holder: Hashable & Sendable>: Sendable {
    /// What the limits are called where somebody is told that there is no place.
    package struct Names: Sendable {
        let total: String
        let perHolder: String

        /// - Parameters:
        ///   - total: The limit of all, such as `UPLOADS_AT_ONCE`.
        ///   - holder: Who a holder is, such as `USER`.
        package init(_ total: String, per holder: String) {
            self.total = total
            perHolder = "\(total)_PER_\(holder)"
        }
    }

    package struct Limits: Sendable {
        /// The most places that are taken at once.
        package var total: Int
        /// The most places of one holder.
        package var perHolder: Int
        /// How many times as many as are still free a holder may have.
        ///
        /// Alone, it can then take `thresholdFactor / (thresholdFactor + 1)` of all.
        package var thresholdFactor: Int

        package init(total: Int, perHolder: Int, thresholdFactor: Int = 1) {
            self.total = total
            self.perHolder = perHolder
            self.thresholdFactor = thresholdFactor
        }
    }

    private struct State {
        var count = 0
        var countByHolder: [Holder: Int] = [:]
    }

    private let names: Names
    private let limits: Limits
    private let state = Mutex(State())

    /// - Parameters:
    ///   - names: What the limits are called.
    ///   - limits: The limits.
    package init(_ names: Names, limits: Limits) {
        self.names = names
        self.limits = limits
    }

    /// How many places are taken.
    package var takenCount: Int { state.withLock { $0.count } }

    /// Takes a place.
    ///
    /// - Parameter holder: Who takes it.
    /// - Returns: The place, which is free again when this is dropped.
    /// - Throws: `NoPlace`.
    package func take(for holder: Holder) throws(NoPlace) -> Place {
        let refusal = state.withLock { state -> NoPlace? in
            let own = state.countByHolder[holder, default: 0]
            if own >= limits.perHolder { return .holderHasAll(limit: names.perHolder) }
            let free = limits.total - state.count
            if free <= 0 || limits.perHolder < limits.total && own / limits.thresholdFactor >= free {
                return .allTaken(limit: names.total)
            }
            state.count += 1
            state.countByHolder[holder] = own + 1
            return nil
        }
        if let refusal { throw refusal }
        return Place { [self] in giveBack(holder) }
    }

    private func giveBack(_ holder: Holder) {
        state.withLock { state in
            state.count -= 1
            let own = state.countByHolder[holder, default: 0] - 1
            state.countByHolder[holder] = own > 0 ? own : nil
        }
    }
}

/// A place that is taken for as long as this lives.
package final class Place: Sendable {
    private let giveBack: @Sendable () -> Void

    /// - Parameter giveBack: What to do when the place is free again.
    package init(giveBack: @escaping @Sendable () -> Void) {
        self.giveBack = giveBack
    }

    deinit {
        giveBack()
    }
}

/// Why there is no place.
///
/// It has the name of the limit.
package enum NoPlace: Error, Equatable {
    /// The holder has as much as one may have.
    case holderHasAll(limit: String)
    /// All holders together have everything, or what is left is for others.
    case allTaken(limit: String)
}
