import Synchronization

/// A semaphore with fair queues: a caller waits until a permit is free.
///
/// Each group of callers has a queue of its own, and the groups take turns. Within a group its members take turns. So a
/// caller with many requests delays others by one turn.
package final class FairSemaphore: Sendable {
    package struct Limits: Sendable {
        /// How many permits there are.
        package var permits: Int
        /// How many callers may wait.
        package var waiting: Int
        /// How many callers of one group may wait.
        package var waitingPerGroup: Int
        /// How many callers of one member may wait.
        package var waitingPerMember: Int

        package init(
            permits: Int,
            waiting: Int = .max,
            waitingPerGroup: Int = .max,
            waitingPerMember: Int = .max
        ) {
            self.permits = permits
            self.waiting = waiting
            self.waitingPerGroup = waitingPerGroup
            self.waitingPerMember = waitingPerMember
        }
    }

    /// A caller that wants a permit.
    package struct Caller: Sendable, Hashable {
        let group: String
        let member: String

        /// - Parameters:
        ///   - group: Those who share one turn, such as a network.
        ///   - member: One of them, such as an account.
        package init(group: String, member: String = "") {
            self.group = group
            self.member = member
        }
    }

    /// It is released when this is dropped, and goes to the next caller who waits.
    package final class Permit: Sendable {
        private let semaphore: FairSemaphore

        fileprivate init(of semaphore: FairSemaphore) { self.semaphore = semaphore }

        deinit { semaphore.release() }
    }

    private enum Outcome {
        case acquired
        case refused(TooBusy)
        case cancelled
    }

    private struct State {
        var queue: FairQueue<UInt64>
        var lastWaiter: UInt64 = 0
        var continuations: [UInt64: CheckedContinuation<Outcome, Never>] = [:]
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - name: What the limit of those who wait is called where it refuses, such as `HASHES_WAITING`.
    ///   - limits: The limits.
    package init(_ name: String, limits: Limits) {
        state = Mutex(State(queue: FairQueue(name, limits: limits)))
    }

    /// How many callers wait.
    package var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// Throws if ``acquire(for:)`` would refuse the caller at once.
    ///
    /// - Throws: `TooBusy`.
    package func requireRoom(for caller: Caller) throws(TooBusy) {
        if let refusal = state.withLock({ $0.queue.refusal(of: caller) }) { throw refusal }
    }

    /// Acquires a permit, and waits for it where there is none.
    ///
    /// - Parameter caller: Who wants it.
    /// - Returns: The permit.
    /// - Throws: `TooBusy` when too many wait, or `CancellationError` when the task is cancelled before there is a permit.
    package func acquire(for caller: Caller) async throws -> Permit {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { enter(waiter, caller, $0) }
        } onCancel: {
            giveUp(waiter, caller)
        }
        switch outcome {
        case .acquired: return Permit(of: self)
        case .refused(let refusal): throw refusal
        case .cancelled: throw CancellationError()
        }
    }

    private func enter(_ waiter: UInt64, _ caller: Caller, _ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state -> Outcome? in
            // The handler of the cancellation runs before this, or finds the waiter: it needs the lock, too.
            if Task.isCancelled { return .cancelled }
            switch state.queue.enter(waiter, caller) {
            case .admitted: return .acquired
            case .refused(let refusal): return .refused(refusal)
            case .waits: break
            case .displaces(let other, let refusal):
                state.continuations.removeValue(forKey: other)?.resume(returning: .refused(refusal))
            }
            state.continuations[waiter] = continuation
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    private func giveUp(_ waiter: UInt64, _ caller: Caller) {
        let continuation = state.withLock { state in
            state.queue.giveUp(waiter, caller) ? state.continuations.removeValue(forKey: waiter) : nil
        }
        continuation?.resume(returning: .cancelled)
    }

    private func release() {
        let continuation = state.withLock { state in
            state.queue.leave().flatMap { state.continuations.removeValue(forKey: $0) }
        }
        continuation?.resume(returning: .acquired)
    }
}
