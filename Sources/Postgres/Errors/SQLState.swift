/// An SQLSTATE: a case for those that callers act on (PostgreSQL manual, appendix A).
package enum SQLState: Sendable, Hashable {
    case undefinedTable
    case undefinedColumn
    /// The statement was cancelled, by its time limit or by somebody.
    case queryCanceled
    case serializationFailure
    case deadlockDetected
    /// An earlier statement of the same transaction failed.
    case inFailedTransaction
    /// The server is a standby, or the transaction may only read.
    case readOnlyTransaction
    /// One case of it: a table changed, and so did the result of a prepared statement.
    case featureNotSupported
    /// A prepared statement does not exist.
    case invalidStatementName
    /// Somebody else has prepared a statement of the name in the same session.
    case duplicatePreparedStatement
    /// Any other; its five characters.
    case other(String)

    /// - Parameter code: Five characters.
    package init(_ code: String) {
        self =
            switch code {
            case "42P01": .undefinedTable
            case "42703": .undefinedColumn
            case "57014": .queryCanceled
            case "40001": .serializationFailure
            case "40P01": .deadlockDetected
            case "25P02": .inFailedTransaction
            case "25006": .readOnlyTransaction
            case "0A000": .featureNotSupported
            case "26000": .invalidStatementName
            case "42P05": .duplicatePreparedStatement
            default: .other(code)
            }
    }

    /// The five characters.
    package var code: String {
        switch self {
        case .undefinedTable: "42P01"
        case .undefinedColumn: "42703"
        case .queryCanceled: "57014"
        case .serializationFailure: "40001"
        case .deadlockDetected: "40P01"
        case .inFailedTransaction: "25P02"
        case .readOnlyTransaction: "25006"
        case .featureNotSupported: "0A000"
        case .invalidStatementName: "26000"
        case .duplicatePreparedStatement: "42P05"
        case .other(let code): code
        }
    }

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
