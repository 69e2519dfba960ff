/// Does work that takes many milliseconds, such as reading large JSON, on threads that serve no connection.
///
/// An event loop looks at its sockets once it has no task left. `Task.yield()` adds a task, so the sockets still wait. The
/// threads of Swift's own executor have no sockets.
///
/// - Parameter work: The work.
/// - Returns: What it returns.
/// - Throws: What it throws.
package func offEventLoop<Result>(_ work: () async throws -> Result) async rethrows -> Result {
    try await withTaskExecutorPreference(globalConcurrentExecutor, operation: work)
}
