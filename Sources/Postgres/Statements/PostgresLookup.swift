/// A statement that finds one row by a key, so that the look-ups of many callers can be one statement.
package struct PostgresLookup: Sendable {
    /// The text before and after the keys.
    private let texts: [String]
    /// Of the texts, which are long: each look-up would hash them again.
    private let hash: Int

    /// The most keys of one statement.
    static let maxKeys = 64
    private static let positionColumn = "key_position"

    /// - Parameters:
    ///   - columns: The columns of the row, of the tables of `source`.
    ///   - source: The rest of a `SELECT`, from `FROM` on. It names the key, of the type `bytea`, as `asked.key`, and
    ///     finds one row at most.
    package init(columns: String, source: String) {
        // The limit keeps the planner from anything but looking each key up by itself. It plans only once, because it does
        // not see how many keys a sub-select has.
        texts = [
            "SELECT asked.position AS \(Self.positionColumn), found.* FROM unnest((SELECT ",
            """
            )) WITH ORDINALITY AS asked (key, position)
            CROSS JOIN LATERAL (SELECT \(columns) \(source) LIMIT 1) AS found
            """,
        ]
        hash = texts.hashValue
    }

    /// The statement for some keys.
    func query(for keys: [[UInt8]]) -> PostgresQuery {
        PostgresQuery(texts: texts, parameters: [PostgresArrayFormat.encode(keys, as: .byteaArray)])
    }

    /// The row of each key, in the order of the keys; nil where there is none.
    ///
    /// - Parameters:
    ///   - rows: What the statement for these keys returned.
    ///   - keyCount: How many keys there are.
    /// - Returns: As many as there are keys.
    static func rows(_ rows: PostgresRows, keyCount: Int) -> Result<[PostgresRow?], PostgresError> {
        var found = [PostgresRow?](repeating: nil, count: keyCount)
        do throws(PostgresError) {
            for row in rows { found[try row.decode(positionColumn, as: Int.self) - 1] = row }
        } catch {
            return .failure(error)
        }
        return .success(found)
    }
}

extension PostgresLookup: Hashable {
    package static func == (one: Self, other: Self) -> Bool { one.hash == other.hash && one.texts == other.texts }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
