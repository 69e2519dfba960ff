import Concurrency

/// How long a diagnosis waits for answers.
struct DiagnosisLimits: Sendable {
    var databaseConnect: Duration = .seconds(4)
    /// Longer than connecting takes, so that its reason comes out.
    var databaseLease: Duration = .seconds(6)
    var migrationStatus: Duration = .seconds(8)
    /// For requests to the store without keys.
    var plainRequest: Duration = .seconds(5)
}

/// Something took too long.
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
