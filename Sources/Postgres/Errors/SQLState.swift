/// An SQLSTATE, with names for those that callers act on (PostgreSQL manual, appendix A).
package struct SQLState: Sendable, Hashable {
    /// The five characters.
    package let code: String

    /// - Parameter code: Five characters.
    package init(_ code: String) {
        self.code = code
    }

    package static let undefinedTable = SQLState("42P01")
    package static let undefinedColumn = SQLState("42703")
    package static let uniqueViolation = SQLState("23505")
    package static let lockNotAvailable = SQLState("55P03")
    /// The statement was cancelled, by its time limit or by a request.
    static let queryCanceled = SQLState("57014")
    static let serializationFailure = SQLState("40001")
    static let deadlockDetected = SQLState("40P01")
    /// An earlier statement of the same transaction failed.
    static let inFailedTransaction = SQLState("25P02")
    /// The server is a standby, or the transaction may only read.
    package static let readOnlyTransaction = SQLState("25006")
    /// One case of it: a table changed, and so did the result of a prepared statement.
    static let featureNotSupported = SQLState("0A000")
    /// A prepared statement does not exist.
    static let invalidStatementName = SQLState("26000")
    /// Another client has prepared a statement of the name in the same session.
    static let duplicatePreparedStatement = SQLState("42P05")

    /// The first two characters, which name a kind of error.
    var errorClass: String { String(code.prefix(2)) }

    /// Connection exceptions (08), insufficient resources (53), operator intervention (57) and system errors (58), and
    /// a server that turned into a standby.
    var isUnavailable: Bool {
        ["08", "53", "57", "58"].contains(errorClass) || self == .readOnlyTransaction
    }

    /// Whether the same transaction may well succeed when it is tried again from its start.
    var isWorthRetrying: Bool {
        self == .serializationFailure || self == .deadlockDetected || spoilsPreparedStatement
    }

    /// Whether the statement had no effect, and must be prepared again.
    var spoilsPreparedStatement: Bool { self == .featureNotSupported || showsPooler }

    /// Whether the session is not the one that prepared the statement, or another client prepared it: there is a pooler.
    var showsPooler: Bool { self == .invalidStatementName || self == .duplicatePreparedStatement }
}
