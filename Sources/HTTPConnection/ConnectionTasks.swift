import Synchronization

/// The tasks of all connections of a server: one for each, which ends with its connection.
package final class ConnectionTasks: Sendable {
    private struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var lastID: UInt64 = 0
        var isCancelled = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Starts a connection's task.
    func start(
        on executor: some TaskExecutor,
        _ operation: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            let task = Task(executorPreference: executor) { [self] in
                await operation()
                self.state.withLock { $0.tasks[id] = nil }
            }
            // It can't have ended: its end needs the lock.
            state.tasks[id] = task
            if state.isCancelled { task.cancel() }
            return task
        }
    }

    /// Waits until all tasks have ended, and cancels them when it is cancelled itself.
    ///
    /// Call it when the server accepts no more connections.
    package func finish() async {
        await withTaskCancellationHandler {
            while let task = state.withLock({ $0.tasks.values.first }) { await task.value }
        } onCancel: {
            let tasks = state.withLock { state in
                state.isCancelled = true
                return Array(state.tasks.values)
            }
            for task in tasks { task.cancel() }
        }
    }
}
