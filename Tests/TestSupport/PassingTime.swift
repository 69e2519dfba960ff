import ServerProcesses

/// Runs a body while the time of a test passes, step by step, until the body is done.
///
/// - Parameters:
///   - step: Moves the time on by one step.
///   - body: What waits for the time.
/// - Returns: What the body returns.
/// - Throws: What the body throws; `NotInTime` when it waits for something else.
package func whilePassing<Result: Sendable>(
    _ step: @escaping @Sendable () async -> Void,
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { tasks in
        tasks.addTask { try await body() }
        tasks.addTask {
            try await poll("the end of what waits for the time") {
                await step()
                return false
            }
            return nil
        }
        defer { tasks.cancelAll() }
        guard let result = try await tasks.next() ?? nil else { throw NotInTime(what: "a result") }
        return result
    }
}
