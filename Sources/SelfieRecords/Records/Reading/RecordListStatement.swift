import Encodings
import JSON
import Postgres
import RecordSchema

/// The statements of a list.
struct RecordListStatement {
    let walk: RecordWalk

    private var query: RecordQuery { walk.query }
    private var reader: RecordReader { walk.reader }

    /// The statement of a page.
    ///
    /// Each row has the schema's version, the stream, the position after which the list begins, and the number of records in
    /// the page. If more follow, it has the position of the last one, and whether that was only looked at. A page with too
    /// many bytes has fewer records.
    var page: PostgresQuery {
        let limit = PostgresQuery(stringLiteral: "\(query.limit + 1)")
        let offset = PostgresQuery(stringLiteral: query.offset == 0 ? "" : "OFFSET \(query.offset)")
        // Without an index, nothing has a value.
        let value: PostgresQuery = query.order.index == nil ? "NULL::text" : "value"
        return """
            WITH \(part: reader(position)), looked_at AS NOT MATERIALIZED (\(part: walk.lookedAt)),
            listed AS MATERIALIZED (
                SELECT record_key, \(part: value) AS value, byte_count FROM (\(part: records(limit))) AS found
                \(part: walk.filters) \(part: walk.order("record_key")) LIMIT \(part: limit) \(part: offset)
            ),
            wanted AS MATERIALIZED (
                SELECT record_key AS key, value, sum(byte_count) OVER (\(part: walk.order("record_key"))) - byte_count AS bytes_before
                FROM (SELECT * FROM listed \(part: walk.order("record_key")) LIMIT \(query.limit)) AS first
            ),
            page AS (
                SELECT \(part: RecordRow.columns), wanted.value
                FROM wanted CROSS JOIN LATERAL (
                    SELECT * FROM records WHERE records.key = wanted.key LIMIT 1
                ) AS records \(part: RecordRow.joins(reader))
                WHERE bytes_before < \(RecordQuery.maxPageBytes)
            ),
            last AS MATERIALIZED (\(part: lastBeforeMore))
            SELECT \(part: SchemaStore.versionColumn) AS schema_version, (SELECT id FROM reader) AS stream_id,
                (SELECT key FROM position) AS begin, (SELECT count(*) FROM wanted) AS wanted_count,
                (SELECT \(part: RecordRow.position) FROM records WHERE key = (SELECT key FROM last)) AS last_before_more,
                (SELECT value FROM last) AS last_value, (SELECT is_limited FROM last) AS is_limited, page.*
            FROM (VALUES (1)) AS present LEFT JOIN page ON true \(part: walk.order("page.key"))
            """
    }

    /// The statement that counts all records of the list: `count`, and how many were looked at as `looked_at`.
    var count: PostgresQuery {
        """
        WITH \(part: reader("NULL::bigint")), looked_at AS MATERIALIZED (\(part: walk.counted))
        SELECT (SELECT count(*) FROM (SELECT * FROM looked_at \(part: Self.live)) AS found \(part: walk.countFilters)) AS count,
            (SELECT count(*) FROM looked_at) AS looked_at
        """
    }

    /// Selects the records that are looked at, as far as they are there.
    private func records(_ limit: PostgresQuery) -> PostgresQuery {
        walk.merged(limit, Self.live) ?? "SELECT * FROM looked_at \(part: Self.live)"
    }

    /// Joins to `record_key` a record that is there.
    private static let live: PostgresQuery = """
        CROSS JOIN LATERAL (
            SELECT byte_count FROM records WHERE key = record_key AND \(part: RecordReader.isThere) LIMIT 1
        ) AS records
        """

    private func reader(_ position: PostgresQuery) -> PostgresQuery {
        """
        reader AS MATERIALIZED (\(part: reader.listStream)), position AS MATERIALIZED (SELECT \(part: position) AS key)
        """
    }

    /// Selects the last record of the page, or else the last one that was looked at, if more may follow.
    private var lastBeforeMore: PostgresQuery {
        let value: PostgresQuery = query.order.index == nil ? "NULL::text" : "value"
        let listed: PostgresQuery = """
            SELECT record_key AS key, value, false AS is_limited FROM (
                SELECT * FROM listed \(part: walk.order("record_key")) LIMIT 1 OFFSET \(query.limit - 1)
            ) AS last WHERE (SELECT count(*) FROM listed) > \(query.limit)
            """
        guard walk.isLimited else { return listed }
        return """
            \(part: listed) UNION ALL SELECT record_key, \(part: value), true FROM (
                SELECT * FROM looked_at OFFSET \(RecordQuery.maxLookedAtCount - 1)
            ) AS last WHERE (SELECT count(*) FROM listed) <= \(query.limit)
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
}
