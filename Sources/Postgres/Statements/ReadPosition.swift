/// What a standby must have replayed before it may answer a reader.
///
/// A task that has a position reads from a standby where the called code allows it, see
/// ``PostgresClient/readFromStandby(_:name:)``. Other tasks read from the primary.
package struct ReadPosition: Sendable {
    /// A condition on the standby's rows, such as that a counter has reached a number.
    ///
    /// It is evaluated in the snapshot of the statement that reads. A standby commits transactions in the primary's order. So
    /// if it has the row that a later transaction has written, it has all rows from before.
    let isReplayed: PostgresQuery

    /// - Parameter condition: A boolean expression.
    package init(isReplayedIf condition: PostgresQuery) {
        isReplayed = condition
    }

    /// The position of the running task; nil for one that reads from the primary.
    @TaskLocal package static var current: ReadPosition?

    /// The statement, which gives no rows before the position.
    ///
    /// Its first two columns are `is_replayed` and `is_found`. A result without rows has one row in which `is_found` is NULL.
    ///
    /// Before the position, the statement is not run. PostgreSQL plans a query with OFFSET by itself, and `is_replayed` is a
    /// constant in it: a filter that is checked once, before anything else. Without OFFSET, it would be a filter of a join,
    /// for rows that were read.
    func checked(_ query: PostgresQuery) -> PostgresQuery {
        """
        WITH checked AS MATERIALIZED (SELECT (\(part: isReplayed)) AS is_replayed)
        SELECT is_replayed, found.* FROM checked LEFT JOIN LATERAL (
            SELECT true AS is_found, statement.* FROM (\(part: query)) AS statement WHERE is_replayed OFFSET 0
        ) AS found ON true
        """
    }

    /// The rows of a checked statement; nil if the standby has not replayed the position.
    ///
    /// - Throws: `PostgresError` for rows of another statement.
    static func rows(_ rows: PostgresRows) throws(PostgresError) -> PostgresRows? {
        guard let first = rows.first, try first.decode("is_replayed", as: Bool.self) else { return nil }
        let isFound = try first.decodeIfPresent("is_found", as: Bool.self) ?? false
        return isFound ? rows : PostgresRows(storage: rows.storage, rowCount: 0)
    }
}
