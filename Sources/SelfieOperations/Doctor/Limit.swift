/// What is thrown when something takes too long.
struct LimitExceeded: Error, CustomStringConvertible {
    var description: String { "it took too long" }
}

/// Runs an operation, and cancels it after a time.
///
/// - Parameters:
///   - duration: How long it may take.
///   - operation: Must end soon when its task is cancelled.
/// - Returns: What the operation returned.
/// - Throws: `LimitExceeded`, or what the operation throws.
func withLimit<Success: Sendable>(
    _ duration: Duration,
    _ operation: @escaping @Sendable () async throws -> Success
) async throws -> Success {
    try await withThrowingTaskGroup(of: Success.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await Task.sleep(for: duration)
            throw LimitExceeded()
        }
        defer { group.cancelAll() }
        guard let success = try await group.next() else { throw CancellationError() }
        return success
    }
}
