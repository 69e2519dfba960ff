/// Runs an operation against something that ends it.
///
/// - Parameters:
///   - operation: Must end soon when its task is cancelled.
///   - referee: Returns why the operation must end; cancelled when the operation ends first.
/// - Returns: What the operation returned.
/// - Throws: What the referee returned or threw, or what the operation threw.
package func race<Success: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Success,
    against referee: @escaping @Sendable () async throws -> any Error
) async throws -> Success {
    try await withThrowingTaskGroup(of: Success.self) { group in
        group.addTask { try await operation() }
        group.addTask { throw try await referee() }
        defer { group.cancelAll() }
        guard let success = try await group.next() else { throw CancellationError() }
        return success
    }
}
