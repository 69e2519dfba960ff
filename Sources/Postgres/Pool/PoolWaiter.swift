/// A caller who waits for a connection.
enum PoolWaiter {
    case statement(Statement)
    case lease(CheckedContinuation<Result<PoolMembers.LeaseID, PostgresError>, Never>)
    /// The first statement of a lease whose connection was lost before.
    case replacement(Statement, of: PoolMembers.LeaseID)

    /// Answers the caller with an error.
    func refuse(with error: PostgresError) {
        switch self {
        case .statement(let statement), .replacement(let statement, _): statement.finish(.failure(error))
        case .lease(let continuation): continuation.resume(returning: .failure(error))
        }
    }
}

extension PoolStateMachine.Refusal {
    /// The caller's error.
    ///
    /// - Parameter lastFailure: Why the last attempt to connect failed.
    /// - Returns: The error.
    func error(lastFailure: PostgresError) -> PostgresError {
        switch self {
        case .timedOut: .leaseTimedOut
        case .cannotConnect: lastFailure
        case .closed: .clientClosed
        }
    }
}
