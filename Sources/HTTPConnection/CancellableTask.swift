import Synchronization

/// Lets others cancel the task that runs now, for as long as it does so.
final class CancellableTask: Sendable {
    /// The only use of it elsewhere is its cancellation, which any thread may ask for while the task lives.
    private struct Handle: @unchecked Sendable {
        let task: UnsafeCurrentTask
    }

    private struct State {
        var handle: Handle?
        /// Cancelled perhaps before it began.
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Runs a body that ``cancel()`` cancels, with all that its task does after it.
    func run(_ body: () async -> Void) async {
        withUnsafeCurrentTask { task in
            let present = task.map { Handle(task: $0) }
            let isCancelled = state.withLock { state in
                state.handle = present
                return state.isCancelled
            }
            if isCancelled { task?.cancel() }
        }
        await body()
        // The task may be gone as soon as this returns.
        state.withLock { $0.handle = nil }
    }

    /// Cancels the body, if it runs.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.handle?.task.cancel()
        }
    }
}
