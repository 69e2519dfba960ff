/// An SQLSTATE, with names for those that callers act on (PostgreSQL manual, appendix A).
package struct SQLState: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package static let uniqueViolation = SQLState(rawValue: "23505")
    package static let foreignKeyViolation = SQLState(rawValue: "23503")
    package static let undefinedTable = SQLState(rawValue: "42P01")
    package static let undefinedColumn = SQLState(rawValue: "42703")
    package static let queryCanceled = SQLState(rawValue: "57014")

    private static let featureNotSupported = SQLState(rawValue: "0A000")
    private static let invalidStatementName = SQLState(rawValue: "26000")

    /// Connection exceptions (08), insufficient resources (53), operator intervention (57) and system errors (58).
    var isUnavailable: Bool {
        ["08", "53", "57", "58"].contains(String(rawValue.prefix(2)))
    }

    /// A prepared statement that the server no longer honours (its table changed, a pooler lost it) spoils the
    /// connection that prepared it, as does the server's own shutdown.
    var breaksConnection: Bool {
        self == .featureNotSupported || self == .invalidStatementName
            || (isUnavailable && self != .queryCanceled)
    }
}
