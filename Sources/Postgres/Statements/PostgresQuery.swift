/// A statement and its parameters, written as one string literal.
///
/// Every interpolation becomes a bound parameter (`$1`, `$2`, …), never text of the statement, so a value cannot
/// change what the statement does:
///
///     let query: PostgresQuery = "SELECT id FROM users WHERE email = \(email)"
package struct PostgresQuery: Sendable, ExpressibleByStringInterpolation {
    /// The text sent to the server, with `$n` where values were interpolated.
    package let sql: String

    /// The values bound to `$1`, `$2`, … in order; at most 65,535, the wire protocol's limit.
    package let parameters: [PostgresValue]

    package init(stringLiteral value: String) {
        sql = value
        parameters = []
    }

    package init(stringInterpolation: StringInterpolation) {
        sql = stringInterpolation.sql
        parameters = stringInterpolation.parameters
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        var sql = ""
        var parameters: [PostgresValue] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            sql.reserveCapacity(literalCapacity + interpolationCount * 3)
            parameters.reserveCapacity(interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) {
            sql += literal
        }

        /// Binds `value` as the next parameter.
        package mutating func appendInterpolation(_ value: some PostgresEncodable) {
            append(value.postgresValue)
        }

        /// Binds `value`, or NULL where there is none.
        package mutating func appendInterpolation(_ value: (some PostgresEncodable)?) {
            append(value?.postgresValue ?? .null)
        }

        private mutating func append(_ value: PostgresValue) {
            parameters.append(value)
            sql += "$\(parameters.count)"
        }
    }
}
