/// A statement and its parameters, written as one string literal.
///
/// Every interpolation becomes a bound parameter (`$1`, `$2`, …), never text of the statement. So a value cannot change
/// what the statement does:
///
///     let query: PostgresQuery = "SELECT id FROM users WHERE email = \(email)"
///
/// A statement may be put together from parts, each a query of its own:
///
///     let query: PostgresQuery = "WITH deleted AS (\(part: deletion)) SELECT count(*) FROM deleted"
package struct PostgresQuery: Sendable, ExpressibleByStringInterpolation {
    /// The text before, between and after the parameters: one more than there are of these.
    private let texts: [String]

    /// The values bound to `$1`, `$2`, … in order; at most 65,535, the wire protocol's limit.
    package let parameters: [PostgresValue]

    /// The text sent to the server, with `$n` where values were interpolated.
    package let sql: String

    /// Ends a transaction.
    static let commit: PostgresQuery = "COMMIT"

    package init(stringLiteral value: String) {
        self.init(texts: [value], parameters: [])
    }

    package init(stringInterpolation: StringInterpolation) {
        self.init(texts: stringInterpolation.texts, parameters: stringInterpolation.parameters)
    }

    init(texts: [String], parameters: [PostgresValue]) {
        self.texts = texts
        self.parameters = parameters
        var sql = texts[0]
        for number in texts.indices.dropFirst() { sql += "$\(number)\(texts[number])" }
        self.sql = sql
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var texts = [""]
        fileprivate var parameters: [PostgresValue] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            texts.reserveCapacity(interpolationCount + 1)
            parameters.reserveCapacity(interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) {
            texts[texts.count - 1] += literal
        }

        /// Binds `value` as the next parameter.
        package mutating func appendInterpolation(_ value: some PostgresEncodable) {
            append(value.postgresValue)
        }

        /// Binds `value`, or NULL where there is none.
        package mutating func appendInterpolation(_ value: (some PostgresEncodable)?) {
            append(value?.postgresValue ?? .null)
        }

        /// Puts a part of the statement here; its parameters are bound as the next ones.
        package mutating func appendInterpolation(part query: PostgresQuery) {
            appendLiteral(query.texts[0])
            texts += query.texts.dropFirst()
            parameters += query.parameters
        }

        private mutating func append(_ value: PostgresValue) {
            parameters.append(value)
            texts.append("")
        }
    }
}
