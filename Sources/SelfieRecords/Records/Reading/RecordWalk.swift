import Postgres
import RecordSchema

/// A way to the records of a list, in one stream, as parts of statements.
///
/// The statements have a common table expression `reader` with the stream's `id`, and `position` with the `key` after which
/// the list begins.
struct RecordWalk {
    let query: RecordQuery
    let reader: RecordReader
    /// What is asked of indexed fields.
    private let searches: [(field: String, search: IndexSearch)]
    /// The search whose records are all looked at; nil when the walk keeps to the order of the list.
    private var gathered: Int?
    /// The record after which the walk begins; nil for the beginning.
    private var after: RecordQuery.Position?

    /// - Throws: `RecordRefusal` for a condition or an order without an index, or with a value that its field can't have.
    init(_ query: RecordQuery, by reader: RecordReader) throws(RecordRefusal) {
        (self.query, self.reader, after) = (query, reader, query.after)
        searches = try reader.collection.searches(query.conditions)
        if let index = query.order.index { try reader.collection.requireIndex(index) }
        if let after, after.ordered.map({ $0.order != query.order }) ?? (query.order.index != nil) {
            throw RecordRefusal(.noSuchPosition)
        }
    }

    /// Whether the number of records that fit each condition decides about the way.
    var dependsOnSizes: Bool {
        query.ids == nil && !(searches.count == 1 && query.isAnswered(by: query.conditions[0])) && !searches.isEmpty
    }

    /// Selects the number of records of each condition, up to one more than can be gathered, as `sizes`.
    var sizes: PostgresQuery {
        let counts = searches.map { field, search -> PostgresQuery in
            let rows: PostgresQuery = """
                SELECT FROM record_index WHERE \(part: isIndexed(field)) AND \(part: Self.fits(search))
                LIMIT \(RecordQuery.maxLookedAtCount + 1)
                """
            return "(SELECT count(*) FROM (\(part: rows)) AS found)"
        }
        let list = counts.dropFirst().reduce(counts[0]) { "\(part: $0), \(part: $1)" }
        return "WITH reader AS MATERIALIZED (\(part: reader.listStream)) SELECT ARRAY[\(part: list)] AS sizes"
    }

    /// Looks at all records of the smallest condition, unless they are too many.
    ///
    /// - Parameter sizes: The number of records of each condition.
    /// - Returns: The better way.
    func choosing(by sizes: [Int]) -> RecordWalk {
        var walk = self
        guard let smallest = sizes.indices.min(by: { sizes[$0] < sizes[$1] }) else { return walk }
        walk.gathered = sizes[smallest] <= RecordQuery.maxLookedAtCount ? smallest : nil
        return walk
    }

    /// The same way from the beginning.
    private var fromBeginning: RecordWalk {
        var walk = self
        walk.after = nil
        return walk
    }

    /// Whether it may end before all records were looked at.
    var isLimited: Bool { gathered == nil && query.ids == nil && mergedValues == nil }

    /// Whether a count may end before all records were looked at.
    var countIsLimited: Bool { gathered == nil && query.ids == nil }

    // MARK: - Parts of statements

    /// The condition on rows of `record_index` that they are a field's, in the stream.
    private func isIndexed(_ field: String) -> PostgresQuery {
        "stream_id = (SELECT id FROM reader) AND collection_id = \(reader.collection.id) AND field = \(field)"
    }

    /// The condition that a column `value` fits a search.
    private static func fits(_ search: IndexSearch) -> PostgresQuery {
        switch search {
        case .values(let values) where values.count == 1: "value = \(values[0].text)"
        case .values(let values): "value = ANY(\(values.map(\.text)))"
        case .range(let range): "value >= \(range.lower) AND value < \(range.upper)"
        }
    }

    /// The value that a record has in an index, for the record of the column `record_key`.
    private func value(of field: String) -> PostgresQuery {
        // Not by the field's values, of which there may be very many.
        """
        (SELECT value FROM record_index AS own WHERE own.record_key = found.record_key
            AND own.stream_id = (SELECT id FROM reader) AND own.field = \(field) LIMIT 1)
        """
    }

    /// The order of rows with `value` and a key.
    ///
    /// - Parameter key: The name of the key's column.
    /// - Returns: An `ORDER BY`.
    func order(_ key: String) -> PostgresQuery {
        let direction = query.order.isDescending ? " DESC" : ""
        // All records of one value are in the order of their keys, which the server does not find out itself.
        let value = query.order.index == nil || walksOneValue ? "" : "value\(direction), "
        return PostgresQuery(stringLiteral: "ORDER BY \(value)\(key)\(direction)")
    }

    private var walksOneValue: Bool {
        guard query.order.index != nil, let walked, case .values(let values) = searches[walked].search else {
            return false
        }
        return values.count == 1
    }

    /// The condition that a record comes after the position.
    ///
    /// - Parameter value: Its value in the order's index.
    /// - Returns: The condition, which begins with `AND`; nothing for the beginning.
    private func isBeyond(_ value: PostgresQuery) -> PostgresQuery {
        guard let after else { return "" }
        let comparison: PostgresQuery = query.order.isDescending ? "<" : ">"
        guard let ordered = after.ordered else {
            return "AND record_key \(part: comparison) (SELECT key FROM position)"
        }
        return """
            AND (\(part: value), record_key) \(part: comparison) (\(ordered.value), (SELECT key FROM position))
            """
    }

    /// Selects the records that are looked at for a page, in the order of the list: `record_key`, and `value` where the order
    /// has an index.
    ///
    /// The server reads as many as are wanted.
    var lookedAt: PostgresQuery {
        if let gathered { return sorted(found(by: searches[gathered])) }
        if let ids = query.ids { return sorted(found(ids)) }
        return "\(part: scan) \(part: order("record_key")) LIMIT \(RecordQuery.maxLookedAtCount)"
    }

    /// Selects the records that are looked at for a count, in no order.
    var counted: PostgresQuery {
        if let ids = query.ids { return found(ids) }
        if let gathered { return found(by: searches[gathered]) }
        let records = searches.count == 1 ? found(by: searches[0]) : fromBeginning.scan
        return "\(part: records) LIMIT \(RecordQuery.maxLookedAtCount)"
    }

    /// The conditions on rows of ``lookedAt``, as `found`.
    var filters: PostgresQuery { filters(besides: gathered ?? (mergedValues == nil ? walked : 0)) }

    /// The conditions on rows of ``counted``, as `found`.
    var countFilters: PostgresQuery { filters(besides: gathered ?? (searches.count == 1 ? 0 : walked)) }

    private func filters(besides answered: Int?) -> PostgresQuery {
        var conditions: [PostgresQuery] = []
        for (position, (field, search)) in searches.enumerated() where position != answered {
            // Each value is looked up once.
            conditions.append(
                """
                EXISTS (
                    SELECT FROM (SELECT \(part: value(of: field)) AS value OFFSET 0) AS own WHERE \(part: Self.fits(search))
                )
                """
            )
        }
        guard let first = conditions.first else { return "" }
        return "WHERE \(part: conditions.dropFirst().reduce(first) { "\(part: $0) AND \(part: $1)" })"
    }

    /// The search that the scan itself answers: it finds one value, or a range of the values that are ordered.
    private var walked: Int? {
        searches.firstIndex { field, search in
            switch search {
            case .range: field == query.order.index
            case .values(let values): values.count == 1 && [nil, field].contains(query.order.index)
            }
        }
    }

    /// Selects records in the order of an index, or of the stream's grants.
    private var scan: PostgresQuery {
        if let walked { return indexed(searches[walked].field, "AND \(part: Self.fits(searches[walked].search))") }
        if let index = query.order.index { return indexed(index, "") }
        return """
            SELECT record_key FROM grants
            WHERE stream_id = (SELECT id FROM reader) AND collection_id = \(reader.collection.id) AND rights % 2 = 1
                \(part: isBeyond(""))
            """
    }

    private func indexed(_ field: String, _ condition: PostgresQuery) -> PostgresQuery {
        """
        SELECT record_key, value FROM record_index
        WHERE \(part: isIndexed(field)) \(part: condition) \(part: isBeyond("value"))
        """
    }

    /// The values, if several values are the only condition; nil for other lists.
    private var mergedValues: [IndexValue]? {
        guard searches.count == 1, gathered == nil, query.isAnswered(by: query.conditions[0]),
            case .values(let values) = searches[0].search, values.count > 1
        else { return nil }
        return values
    }

    /// Selects the first records of each of several values that are the only condition; nil for other lists.
    ///
    /// Each is a scan of its own, which reads as many records as a page has: the server would rather sort all of them.
    ///
    /// - Parameters:
    ///   - limit: How many records are wanted.
    ///   - live: What is joined to a record that is there.
    /// - Returns: The records, with the columns of what is joined.
    func merged(_ limit: PostgresQuery, _ live: PostgresQuery) -> PostgresQuery? {
        guard let values = mergedValues else { return nil }
        let direction: PostgresQuery = query.order.isDescending ? " DESC" : ""
        let all = values.map { value -> PostgresQuery in
            """
            (SELECT * FROM (
                \(part: indexed(searches[0].field, "AND \(part: Self.fits(.values([value])))"))
            ) AS found \(part: live) ORDER BY record_key\(part: direction) LIMIT \(part: limit))
            """
        }
        return all.dropFirst().reduce(all[0]) { "\(part: $0) UNION ALL \(part: $1)" }
    }

    /// Selects all records that a search finds.
    private func found(by search: (field: String, search: IndexSearch)) -> PostgresQuery {
        "SELECT record_key FROM record_index WHERE \(part: isIndexed(search.field)) AND \(part: Self.fits(search.search))"
    }

    /// Selects the records of some ids.
    private func found(_ ids: [String]) -> PostgresQuery {
        """
        SELECT record_key FROM grants
        WHERE stream_id = (SELECT id FROM reader) AND collection_id = \(reader.collection.id) AND rights % 2 = 1
            AND record_key IN (
                SELECT key FROM records WHERE \(part: reader.isInPlace) AND id = ANY(\(ids)) AND deleted_at IS NULL
            )
        """
    }

    private func sorted(_ keys: PostgresQuery) -> PostgresQuery {
        let value = query.order.index.map { ", \(part: self.value(of: $0)) AS value" as PostgresQuery } ?? ""
        return """
            SELECT * FROM (SELECT record_key\(part: value) FROM (\(part: keys)) AS found) AS valued
            WHERE true \(part: isBeyond("value")) \(part: order("record_key"))
            """
    }
}
