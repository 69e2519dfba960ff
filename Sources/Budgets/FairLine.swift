import Synchronization

/// A bounded number of places, and a line of those who wait for one.
///
/// Each group of claimants has a line of its own, and the groups take turns. Within a group its members take turns. So
/// who sends many delays others by one turn.
package final class FairLine: Sendable {
    package struct Limits: Sendable {
        /// How many places there are.
        package var places: Int
        /// How many may wait.
        package var waiting: Int
        /// How many of one group may wait.
        package var waitingPerGroup: Int
        /// How many of one member may wait.
        package var waitingPerMember: Int

        package init(places: Int, waiting: Int, waitingPerGroup: Int, waitingPerMember: Int) {
            self.places = places
            self.waiting = waiting
            self.waitingPerGroup = waitingPerGroup
            self.waitingPerMember = waitingPerMember
        }
    }

    /// Who wants a place.
    package struct Claimant: Sendable, Hashable {
        let group: String
        let member: String

        /// - Parameters:
        ///   - group: Those who share one turn, such as a network.
        ///   - member: One of them, such as an account.
        package init(group: String, member: String) {
            self.group = group
            self.member = member
        }
    }

    private enum Outcome {
        case admitted
        case refused(FairLineRefusal)
        case cancelled
    }

    private struct State {
        var line: FairLineState<UInt64>
        var lastWaiter: UInt64 = 0
        var continuations: [UInt64: CheckedContinuation<Outcome, Never>] = [:]
    }

    private let state: Mutex<State>

    /// - Parameter limits: The limits.
    package init(limits: Limits) {
        state = Mutex(State(line: FairLineState(limits: limits)))
    }

    /// How many wait.
    package var waitingCount: Int { state.withLock { $0.line.waitingCount } }

    /// Refuses somebody at once who would be refused later.
    ///
    /// - Throws: `FairLineRefusal`.
    package func requireRoom(for claimant: Claimant) throws(FairLineRefusal) {
        if let refusal = state.withLock({ $0.line.refusal(of: claimant) }) { throw refusal }
    }

    /// Waits for a place.
    ///
    /// - Parameter claimant: Who wants it.
    /// - Returns: The place, which goes to the next one when this is dropped.
    /// - Throws: `FairLineRefusal`, or `CancellationError` when the task is cancelled before there is a place.
    package func enter(_ claimant: Claimant) async throws -> Place {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { enter(waiter, claimant, $0) }
        } onCancel: {
            giveUp(waiter, claimant)
        }
        switch outcome {
        case .admitted: return Place { [self] in leave() }
        case .refused(let refusal): throw refusal
        case .cancelled: throw CancellationError()
        }
    }

    private func enter(_ waiter: UInt64, _ claimant: Claimant, _ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state -> Outcome? in
            // The handler of the cancellation runs before this, or finds the waiter: it needs the lock, too.
            if Task.isCancelled { return .cancelled }
            switch state.line.enter(waiter, claimant) {
            case .admitted: return .admitted
            case .refused(let refusal): return .refused(refusal)
            case .waits: break
            case .displaces(let other):
                state.continuations.removeValue(forKey: other)?.resume(returning: .refused(.ownLineFull))
            }
            state.continuations[waiter] = continuation
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    private func giveUp(_ waiter: UInt64, _ claimant: Claimant) {
        let continuation = state.withLock { state in
            state.line.giveUp(waiter, claimant) ? state.continuations.removeValue(forKey: waiter) : nil
        }
        continuation?.resume(returning: .cancelled)
    }

    private func leave() {
        let continuation = state.withLock { state in
            state.line.leave().flatMap { state.continuations.removeValue(forKey: $0) }
        }
        continuation?.resume(returning: .admitted)
    }
}

/// Why somebody may not wait.
package enum FairLineRefusal: Error {
    /// Too many of their own group or of the same member wait already.
    case ownLineFull
    /// Too many wait already.
    case full
}
