import Encodings
import JSON
import Postgres
import RecordSchema

/// The statement of a list: it walks along one stream's grants, or along the values of an index.
struct RecordListStatement {
    let query: RecordQuery
    let reader: RecordReader

    /// The statement.
    ///
    /// Each row has the schema's version, the stream, the position after which the list begins, and the number of
    /// records in the page. If more follow, it has the position of the last one. A page with too many bytes has fewer
    /// records.
    ///
    /// - Returns: The statement.
    /// - Throws: `RecordRefusal` for a condition without an index, or with a value of another type than its field.
    func text() throws(RecordRefusal) -> PostgresQuery {
        let (walk, lookedAt) = try walk()
        let limit = PostgresQuery(stringLiteral: "\(query.limit + 1)")
        return """
            WITH reader AS MATERIALIZED (\(part: reader.listStream)),
            position AS MATERIALIZED (SELECT \(part: position) AS key),
            looked_at AS MATERIALIZED (\(part: lookedAt)),
            listed AS MATERIALIZED (\(part: walk) \(part: order("record_key")) LIMIT \(part: limit)),
            wanted AS MATERIALIZED (
                SELECT record_key FROM listed \(part: order("record_key")) LIMIT \(query.limit)
            ),
            measured AS MATERIALIZED (
                SELECT key, sum(byte_count) OVER (\(part: order("key"))) - byte_count AS bytes_before
                FROM wanted CROSS JOIN LATERAL (
                    SELECT key, byte_count FROM records WHERE key = record_key AND \(part: RecordReader.isThere) LIMIT 1
                ) AS records
            ),
            page AS (
                SELECT \(part: RecordRow.columns)
                FROM measured CROSS JOIN LATERAL (
                    SELECT * FROM records WHERE records.key = measured.key LIMIT 1
                ) AS records \(part: RecordRow.joins(reader))
                WHERE bytes_before < \(RecordQuery.maxPageBytes)
            )
            SELECT \(part: SchemaStore.versionColumn) AS schema_version, (SELECT id FROM reader) AS stream_id,
                (SELECT key FROM position) AS begin, (SELECT count(*) FROM measured) AS wanted_count,
                \(part: lastBeforeMore) AS last_before_more, page.*
            FROM (VALUES (1)) AS present LEFT JOIN page ON true \(part: order("page.key"))
            """
    }

    private func order(_ column: String) -> PostgresQuery {
        PostgresQuery(stringLiteral: "ORDER BY \(column)\(query.order == .newest ? " DESC" : "")")
    }

    /// The position of the last record that was looked at, if more follow.
    private var lastBeforeMore: PostgresQuery {
        let last = query.order == .created ? PostgresQuery("max(record_key)") : "min(record_key)"
        let whenCapped: PostgresQuery =
            query.conditions.count > 1
            ? """
            WHEN (SELECT count(*) FROM looked_at) = \(RecordQuery.maxLookedAtCount)
                THEN (SELECT \(part: RecordRow.position) FROM records WHERE key = (SELECT \(part: last) FROM looked_at))
            """ : ""
        return """
            CASE WHEN (SELECT count(*) FROM listed) > \(query.limit)
                THEN (SELECT \(part: RecordRow.position) FROM records WHERE key = (SELECT \(part: last) FROM wanted))
            \(part: whenCapped) END
            """
    }

    /// How many deleted records of one id are looked at.
    private static let maxLivesOfID = 100

    /// The key of the record after which the list begins, even if that was deleted meanwhile.
    private var position: PostgresQuery {
        guard let after = query.after else { return "NULL::bigint" }
        func key(_ condition: PostgresQuery) -> PostgresQuery {
            // A version is higher than all that its id had before.
            """
            (
                SELECT max(key) FROM (
                    SELECT key, collection_id, created_at FROM records
                    WHERE \(part: reader.isInPlace) AND id = \(after.id) AND \(part: condition)
                    ORDER BY version DESC LIMIT \(Self.maxLivesOfID)
                ) AS records
                WHERE (\(after.createdAt)::bigint IS NULL
                        OR created_at = timestamp 'epoch' + \(after.createdAt)::bigint * interval '1 microsecond')
                    AND EXISTS (
                        SELECT FROM grants WHERE grants.collection_id = records.collection_id AND record_key = key
                            AND stream_id = (SELECT id FROM reader)
                    )
            )
            """
        }
        return "coalesce(\(part: key("deleted_at IS NULL")), \(part: key("deleted_at IS NOT NULL")))"
    }

    private var beyond: PostgresQuery {
        switch (query.after, query.order) {
        case (nil, _): ""
        case (_, .created): "AND record_key > (SELECT key FROM position)"
        case (_, .newest): "AND record_key < (SELECT key FROM position)"
        }
    }

    private typealias Walk = (records: PostgresQuery, lookedAt: PostgresQuery)

    /// Selects the keys of the list without an order, and for several conditions those that are looked at.
    private func walk() throws(RecordRefusal) -> Walk {
        let nothing: PostgresQuery = "SELECT NULL::bigint AS record_key WHERE false"
        let isGranted: PostgresQuery = """
            stream_id = (SELECT id FROM reader) AND collection_id = \(reader.collection.id)
            """
        if let ids = query.ids {
            return (
                """
                SELECT record_key FROM grants WHERE \(part: isGranted) AND rights % 2 = 1 AND record_key IN (
                    SELECT key FROM records WHERE \(part: reader.isInPlace) AND id = ANY(\(ids)) AND deleted_at IS NULL
                ) \(part: beyond)
                """,
                nothing
            )
        }
        let values = try indexValues()
        guard let first = values.first else {
            return (
                "SELECT record_key FROM grants WHERE \(part: isGranted) AND rights % 2 = 1 \(part: beyond)", nothing
            )
        }
        let walked: PostgresQuery = """
            SELECT record_key FROM record_index WHERE \(part: isGranted) AND field = \(first.field)
                AND value = \(first.value.text) \(part: beyond)
            """
        if values.count == 1 { return (walked, nothing) }
        let others = values.dropFirst().map { field, value -> PostgresQuery in
            """
            EXISTS (
                SELECT FROM record_index AS other WHERE other.stream_id = (SELECT id FROM reader)
                    AND other.collection_id = \(reader.collection.id) AND other.field = \(field)
                    AND other.value = \(value.text) AND other.record_key = looked_at.record_key
            )
            """
        }
        let conditions = others.dropFirst().reduce(others[0]) { "\(part: $0) AND \(part: $1)" }
        return (
            "SELECT record_key FROM looked_at WHERE \(part: conditions)",
            "\(part: walked) \(part: order("record_key")) LIMIT \(RecordQuery.maxLookedAtCount)"
        )
    }

    private func indexValues() throws(RecordRefusal) -> [(field: String, value: IndexValue)] {
        var values: [(String, IndexValue)] = []
        for (field, value) in query.conditions {
            guard reader.collection.definition.indexes.contains(field) else {
                throw RecordRefusal(.noIndex(field: field))
            }
            let type = reader.collection.definition.field(field)?.type
            // No record can have such a value, so a list without records would hide the mistake.
            if value != .null, let reason = type?.validationError(of: value), case .notA = reason {
                throw RecordRefusal(.invalidCondition(RecordValidationError(field, reason)))
            }
            values.append((field, IndexValue(value, of: type)))
        }
        return values
    }
}
