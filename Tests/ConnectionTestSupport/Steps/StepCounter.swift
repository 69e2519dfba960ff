import Synchronization

/// Counts what a process asks of its servers, one step after the other, and has one step fail.
///
/// The same operation, run once for each of its steps, is seen to be stopped everywhere, and nothing is left to luck.
package final class StepCounter: Sendable {
    /// The server that is asked.
    package enum Server: Sendable {
        case database, store
    }

    /// What fails together with a step.
    package enum Reach: String, CaseIterable, Sendable {
        /// Nothing else: another try goes through.
        case step
        /// All that the same server is asked from then on.
        case server
        /// All that anybody is asked from then on: it is the process that ended.
        case process
        /// Nothing: the request's task is cancelled, before the step or instead of its answer.
        case request
    }

    /// Which step fails, and how.
    package struct Fault: Sendable {
        /// Which one, from 0 on.
        package let step: Int
        /// Whether the server does as asked, and only its answer is lost.
        package let isDone: Bool
        /// What else fails.
        package let reach: Reach

        /// - Parameters:
        ///   - step: Which one, from 0 on.
        ///   - isDone: Whether the server does as asked, and only its answer is lost.
        ///   - reach: What else fails.
        package init(step: Int, isDone: Bool, reach: Reach) {
            self.step = step
            self.isDone = isDone
            self.reach = reach
        }
    }

    /// What becomes of a step.
    package enum Verdict: Sendable {
        case goesOn, failsBefore, failsAfter
    }

    private struct State {
        var fault: Fault?
        var onFailure: @Sendable () -> Void = {}
        var count = 0
        var failed: Server?
        var isOver = false
    }

    private let state = Mutex(State())
    private let underWay = Mutex(0)

    package init() {}

    /// Counts from 0 on.
    ///
    /// - Parameters:
    ///   - fault: What is to fail.
    ///   - onFailure: Called when it has failed, before anything else continues.
    package func begin(_ fault: Fault, onFailure: @escaping @Sendable () -> Void) {
        state.withLock { $0 = State(fault: fault, onFailure: onFailure) }
    }

    /// Lets everything continue.
    ///
    /// - Returns: Whether the step that was to fail came.
    package func end() -> Bool {
        state.withLock { state in
            defer { state = State() }
            return state.isOver
        }
    }

    /// How many steps there were.
    package var count: Int { state.withLock { $0.count } }

    /// Counts a step.
    ///
    /// - Parameter server: The server that is asked.
    /// - Returns: What becomes of it. The caller makes it fail where it says so, and then calls ``finish()``.
    package func next(_ server: Server) -> Verdict {
        let verdict: Verdict = state.withLock { state in
            guard let fault = state.fault else { return .goesOn }
            if Self.isDown(server, state) { return .failsBefore }
            state.count += 1
            guard state.count == fault.step + 1 else { return .goesOn }
            state.failed = server
            return fault.isDone ? .failsAfter : .failsBefore
        }
        guard verdict == .failsBefore, state.withLock({ $0.fault?.reach == .request }) else { return verdict }
        finish()
        return .goesOn
    }

    /// The step has failed, with what it was to do before.
    package func finish() {
        let onFailure: (@Sendable () -> Void)? = state.withLock { state in
            guard state.failed != nil, !state.isOver else { return nil }
            state.isOver = true
            return state.onFailure
        }
        onFailure?()
    }

    /// Does what a step asks a server for, which may go on when the one who asked is gone.
    package func doing<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        underWay.withLock { $0 += 1 }
        defer { underWay.withLock { $0 -= 1 } }
        return try await body()
    }

    /// How many steps are being done.
    package var underWayCount: Int { underWay.withLock { $0 } }

    /// Whether a server has stopped answering.
    package func isDown(_ server: Server) -> Bool {
        state.withLock { Self.isDown(server, $0) }
    }

    private static func isDown(_ server: Server, _ state: State) -> Bool {
        switch state.fault?.reach {
        case .process: state.failed != nil
        case .server: state.failed == server
        case .step, .request, nil: false
        }
    }
}
