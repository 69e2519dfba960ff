/// What can go wrong between a statement and its rows.
///
/// `description` names kinds and SQLSTATEs only: a server's message may quote the values of a row.
/// `String(reflecting:)` has the message.
package enum PostgresError: Error, Sendable {
    /// No connection could be opened; the text is libpq's.
    case cannotConnect(String)
    /// The connection broke during a statement, which may or may not have run.
    case connectionLost(String)
    /// The statement did not end within its time limit. It was cancelled at the server; one that commits may take effect.
    ///
    /// `isAnswered` says whether the server has said so. Otherwise it did not answer.
    case statementTimedOut(isAnswered: Bool)
    /// No connection became free within the time that a caller may wait.
    case leaseTimedOut
    /// Too many callers wait for a connection.
    case tooManyWaiting
    /// The client was shut down.
    case clientClosed
    /// The connection was used after its lease had ended.
    case leaseEnded
    /// The server refused the statement.
    case server(PostgresServerError)
    /// A column could not be read as the type that was asked for.
    case decoding(column: String, expected: String, found: String)
    /// The calling task was cancelled. The statement is cancelled at the server; one that commits may take effect.
    case cancelled
}

/// The server's answer to a statement that it refused.
package struct PostgresServerError: Sendable, Equatable {
    package let sqlState: SQLState
    /// The primary message; it may quote values.
    package let message: String
}

extension PostgresServerError {
    /// The server's error for another statement of a failed transaction.
    static let failedTransaction = PostgresServerError(
        sqlState: .inFailedTransaction,
        message: "a statement of the transaction failed, so the transaction was rolled back"
    )
}

extension PostgresError {
    /// Whether the cause is the database and not the statement.
    ///
    /// Then trying later may help.
    package var isUnavailable: Bool {
        switch self {
        case .cannotConnect, .connectionLost, .statementTimedOut, .leaseTimedOut, .tooManyWaiting, .clientClosed: true
        case .server(let error): error.sqlState.isUnavailable
        case .decoding, .cancelled, .leaseEnded: false
        }
    }

    /// Whether the statement may have taken effect all the same.
    package var mayHaveTakenEffect: Bool {
        switch self {
        case .connectionLost, .statementTimedOut, .cancelled, .decoding: true
        case .cannotConnect, .leaseTimedOut, .tooManyWaiting, .clientClosed, .leaseEnded, .server: false
        }
    }

    /// The SQLSTATE of a server's refusal.
    package var sqlState: SQLState? {
        guard case .server(let error) = self else { return nil }
        return error.sqlState
    }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String {
        switch self {
        case .cannotConnect: "PostgreSQL cannot be reached"
        case .connectionLost: "the connection to PostgreSQL was lost"
        case .statementTimedOut: "PostgreSQL did not answer in time"
        case .leaseTimedOut: "no connection to PostgreSQL became free in time"
        case .tooManyWaiting: "too many callers wait for a connection to PostgreSQL"
        case .clientClosed: "the PostgreSQL client is closed"
        case .leaseEnded: "the connection to PostgreSQL was used after it was given back"
        case .server(let error): "PostgreSQL refused a statement (SQLSTATE \(error.sqlState.code))"
        case .decoding(let column, let expected, let found): "column \(column): expected \(expected), found \(found)"
        case .cancelled: "the task was cancelled"
        }
    }

    package var debugDescription: String {
        switch self {
        case .cannotConnect(let detail), .connectionLost(let detail): "\(description): \(detail)"
        case .server(let error): "\(description): \(error.message)"
        default: description
        }
    }
}
