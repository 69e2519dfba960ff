import Concurrency

/// An operation took too long.
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
    try await race(operation) {
        try await Task.sleep(for: duration)
        return LimitExceeded()
    }
}
