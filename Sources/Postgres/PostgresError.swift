/// What can go wrong between a statement and its rows.
///
/// `description` names kinds and SQLSTATEs only: a server's message may quote the values of a row. The message is
/// there by `String(reflecting:)`.
package enum PostgresError: Error, Sendable {
    /// No connection could be opened; the text is libpq's.
    case cannotConnect(String)
    /// The connection broke while a statement was under way, which may or may not have run.
    case connectionLost(String)
    /// The server did not answer within the statement's time limit; the connection was closed.
    case statementTimedOut
    /// All connections stayed in use for as long as a caller may wait for one.
    case leaseTimedOut
    /// The client was shut down.
    case clientClosed
    /// The server refused the statement.
    case server(PostgresServerError)
    /// A column could not be read as the type that was asked for.
    case decoding(column: String, expected: String, found: String)
    /// The task that was waiting was cancelled.
    case cancelled
}

/// The server's answer to a statement that it refused.
package struct PostgresServerError: Sendable, Equatable {
    /// The five characters of the SQLSTATE (PostgreSQL manual, appendix A).
    package let sqlState: SQLState
    /// The primary message; it may quote values.
    package let message: String
    /// The constraint that was violated, where one was.
    package let constraint: String?
}

extension PostgresServerError {
    /// What the server would say to one more statement of a transaction that failed.
    static let failedTransaction = PostgresServerError(
        sqlState: SQLState(rawValue: "25P02"),
        message: "a statement of the transaction failed, so the transaction was rolled back",
        constraint: nil
    )
}

extension PostgresError {
    /// Whether the database, rather than the statement, is the cause, so that trying later may help.
    package var isUnavailable: Bool {
        switch self {
        case .cannotConnect, .connectionLost, .statementTimedOut, .leaseTimedOut, .clientClosed: true
        case .server(let error): error.sqlState.isUnavailable
        case .decoding, .cancelled: false
        }
    }

    /// Whether the connection can't be used again.
    var breaksConnection: Bool {
        switch self {
        case .cannotConnect, .connectionLost, .statementTimedOut, .clientClosed, .cancelled: true
        case .server(let error): error.sqlState.breaksConnection
        case .leaseTimedOut, .decoding: false
        }
    }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String {
        switch self {
        case .cannotConnect: "PostgreSQL cannot be reached"
        case .connectionLost: "the connection to PostgreSQL was lost"
        case .statementTimedOut: "PostgreSQL did not answer in time"
        case .leaseTimedOut: "no connection to PostgreSQL became free in time"
        case .clientClosed: "the PostgreSQL client is closed"
        case .server(let error): "PostgreSQL refused a statement (SQLSTATE \(error.sqlState.rawValue))"
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
