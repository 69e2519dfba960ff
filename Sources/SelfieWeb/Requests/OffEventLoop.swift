/// Does work that takes long, such as reading large JSON, on threads that serve no connection.
///
/// A request is answered on its connection's event loop, which looks at its other sockets only between requests' tasks, once
/// none is left: `Task.yield()` does not let it. So the work moves to the threads of Swift's own executor.
///
/// - Parameter work: The work.
/// - Returns: What it returns.
/// - Throws: What it throws.
func offEventLoop<Result>(_ work: () async throws -> Result) async rethrows -> Result {
    try await withTaskExecutorPreference(globalConcurrentExecutor, operation: work)
}
