/// A failure of BEGIN, COMMIT or ROLLBACK; errors of the body are rethrown unchanged.
package enum PostgresTransactionError: Error, Sendable {
    /// The transaction was not committed. If the connection was lost, it may have been.
    case commit(PostgresError)
    /// The body failed, and so did the rollback; the connection was closed, which rolls back too.
    case rollback(PostgresError, after: any Error)

    /// The underlying error of the database.
    package var postgresError: PostgresError {
        switch self {
        case .commit(let error), .rollback(let error, _): error
        }
    }
}

extension PostgresTransactionError: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { text { String(describing: $0) } }
    package var debugDescription: String { text { String(reflecting: $0) } }

    private func text(_ describe: (any Error) -> String) -> String {
        switch self {
        case .commit(let error): "a transaction could not be committed: \(describe(error))"
        case .rollback(let error, let cause):
            "a transaction could not be rolled back: \(describe(error)); it failed before: \(describe(cause))"
        }
    }
}
