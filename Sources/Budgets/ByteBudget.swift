import Synchronization

/// Bytes of memory or disk that many holders share.
///
/// As with ``Places``, a holder has no more than is still free for others, unless one may have all.
package final class ByteBudget<Holder: Hashable & Sendable>: Sendable {
    private struct State {
        var used = 0
        var usedByHolder: [Holder: Int] = [:]
    }

    private let maxBytes: Int
    package let maxBytesPerHolder: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maxBytes: The most bytes of all reservations together.
    ///   - maxBytesPerHolder: The most bytes of one holder's reservations.
    package init(maxBytes: Int, maxBytesPerHolder: Int = .max) {
        self.maxBytes = maxBytes
        self.maxBytesPerHolder = maxBytesPerHolder
    }

    /// The bytes of all reservations.
    package var bytesUsed: Int { state.withLock { $0.used } }

    /// The bytes of one holder's reservations.
    package func bytesUsed(by holder: Holder) -> Int { state.withLock { $0.usedByHolder[holder] ?? 0 } }

    fileprivate func take(_ bytes: Int, for holder: Holder, leavesSome: Bool) throws(NoBytes) {
        let refusal = state.withLock { state -> NoBytes? in
            let own = state.usedByHolder[holder, default: 0]
            if bytes > maxBytesPerHolder - own { return .holderHasAll }
            let free = maxBytes - state.used
            if bytes > free { return .allTaken }
            // The first bytes may be the last ones.
            if leavesSome, maxBytesPerHolder < maxBytes, own > 0, own + bytes > free { return .allTaken }
            state.used += bytes
            state.usedByHolder[holder] = own + bytes
            return nil
        }
        if let refusal { throw refusal }
    }

    fileprivate func giveBack(_ bytes: Int, of holder: Holder) {
        guard bytes > 0 else { return }
        state.withLock { state in
            state.used -= bytes
            let own = state.usedByHolder[holder, default: 0] - bytes
            state.usedByHolder[holder] = own > 0 ? own : nil
        }
    }
}

/// A part of a budget that one holder has reserved.
///
/// It is given back when this is dropped.
package final class ByteReservation<Holder: Hashable & Sendable>: Sendable {
    private let budget: ByteBudget<Holder>
    private let holder: Holder
    private let bytes = Mutex(0)

    /// Reserves nothing yet.
    ///
    /// - Parameters:
    ///   - budget: What it is a part of.
    ///   - holder: Who reserves.
    package init(of budget: ByteBudget<Holder>, for holder: Holder) {
        self.budget = budget
        self.holder = holder
    }

    deinit {
        giveBack()
    }

    /// Takes more bytes.
    ///
    /// - Parameters:
    ///   - more: How many.
    ///   - leavesSome: Whether it leaves as much for others as its holder has.
    /// - Throws: `NoBytes` when that many are not left. Then nothing is taken.
    package func grow(by more: Int, leavesSome: Bool = true) throws(NoBytes) {
        try budget.take(more, for: holder, leavesSome: leavesSome)
        bytes.withLock { $0 += more }
    }

    /// Gives back what it has beyond some bytes.
    ///
    /// - Parameter count: How many it keeps, if it has as many.
    package func shrink(to count: Int) {
        let rest = bytes.withLock { bytes in
            defer { bytes = min(bytes, count) }
            return bytes - min(bytes, count)
        }
        budget.giveBack(rest, of: holder)
    }

    /// Takes more bytes, or gives some back.
    ///
    /// - Parameters:
    ///   - count: How many it has then.
    ///   - leavesSome: Whether it leaves as much for others as its holder has.
    /// - Throws: `NoBytes` when there are not as many. Then it has what it had.
    package func resize(to count: Int, leavesSome: Bool = true) throws(NoBytes) {
        let missing = count - byteCount
        if missing > 0 { try grow(by: missing, leavesSome: leavesSome) } else { shrink(to: count) }
    }

    /// How many it has.
    package var byteCount: Int { bytes.withLock { $0 } }

    /// Gives everything back.
    package func giveBack() {
        let all = bytes.withLock { bytes in
            defer { bytes = 0 }
            return bytes
        }
        budget.giveBack(all, of: holder)
    }
}

/// Why there are not as many bytes.
package enum NoBytes: Error {
    /// The holder has as many as one may have.
    case holderHasAll
    /// All holders together have everything, or what is left is for others.
    case allTaken
}
