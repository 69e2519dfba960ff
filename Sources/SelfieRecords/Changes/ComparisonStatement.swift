import Postgres
import RecordSchema

/// The statement that compares streams and readers with the database, and reads the streams' next changes.
///
/// Each event waits for it, so it is short: it reads all collections, and looks for a record in no other stream.
struct ComparisonStatement {
    /// Up to where the streams were read.
    let streams: [Int: ChangeCursor.Position]
    /// The streams whose next changes are read, at most ``maxReadCount``.
    let read: Set<Int>
    /// The readers to compare, with the streams of the roles that they had; nil for those whose roles are not compared.
    let readers: [(reader: ChangeReader, roleStreams: Set<Int>?)]
    let schema: AppliedSchema

    /// The most streams whose next changes are read at once.
    static let maxReadCount = 64
    /// The most changes of all these streams, of which each gets at least one.
    private static let maxCount = 256
    /// The bytes after which no second change of a stream is read, for all these streams.
    private static let maxBytes = 256 << 10

    /// The statement.
    ///
    /// Its first row has the epoch and the outdated readers. Each row has a stream and its next change, if there are any.
    var text: PostgresQuery {
        """
        WITH asked AS MATERIALIZED (SELECT *, \(part: shares) FROM (\(part: asked)) AS asked)
        SELECT first.*, asked.id AS asked_id, last, started, forgotten_seq, is_lost, \(part: ChangeStatement.columns)
        FROM (VALUES (1)) AS one LEFT JOIN asked ON true
        LEFT JOIN LATERAL (\(part: chosen)) AS chosen ON last > since
        LEFT JOIN LATERAL (
            SELECT \(part: ChangeEpoch.columns), \(part: ChangeReader.changed(since: readers)) AS changed_readers
            WHERE coalesce(place, 1) = 1 AND coalesce(number, 1) = 1
        ) AS first ON true
        \(part: ChangeStatement.contents(schema))
        ORDER BY asked.id, chosen.seq
        """
    }

    /// A stream's place among all, and how many changes are wanted of all.
    ///
    /// Mostly there is one stream. A shorter plan for it is opened and executed sooner.
    private var shares: PostgresQuery {
        streams.count == 1
            ? "1 AS place, greatest(1, wanted) AS all_wanted"
            : "row_number() OVER (ORDER BY id) AS place, greatest(1, sum(wanted) OVER ())::bigint AS all_wanted"
    }

    /// The streams, with how many changes there may be after the position, up to the limit.
    private var asked: PostgresQuery {
        """
        SELECT streams.id, streams.user_id, streams.seq AS last, forgotten_seq, since,
            CASE WHEN since IS NULL THEN 0 ELSE greatest(0, least(streams.seq - since, \(Self.maxCount))) END AS wanted,
            \(part: StreamEnd.microseconds(of: "started_at")) AS started,
            \(part: StreamEnd.isLost("known.last", givenUnder: "known.started")) AS is_lost
        FROM \(part: positions) AS known (id, last, started, since)
        CROSS JOIN LATERAL (SELECT * FROM streams WHERE streams.id = known.id LIMIT 1) AS streams
        """
    }

    /// The streams, with their ends, and the numbers from which they are read.
    private var positions: PostgresQuery {
        let known = streams.map { id, position in
            (id: id, end: position.end, since: read.contains(id) ? position.number : nil)
        }
        if known.count == 1 {
            let (id, end, since) = known[0]
            return """
                (VALUES (\(id)::bigint, \(end.number)::bigint, \(end.postgresStart)::bigint, \(since)::bigint))
                """
        }
        return """
            unnest(
                \(hidden: known.map(\.id)), \(hidden: known.map(\.end.number)),
                \(hidden: known.map(\.end.postgresStart)), \(hidden: known.map(\.since))
            )
            """
    }

    /// A stream's next changes: its share of all that may be read.
    private var chosen: PostgresQuery {
        """
        SELECT * FROM (
            SELECT change.*, asked.user_id AS reader_id, change_id, is_deleted,
                sum(\(part: ChangeStatement.byteCount)) OVER (ORDER BY seq) AS bytes_until,
                row_number() OVER (ORDER BY seq) AS number
            FROM (
                \(part: ChangeStatement.changes(
                    after: "asked.since",
                    of: "asked.id",
                    limit: "greatest(1, wanted * \(Self.maxCount) / greatest(all_wanted, \(Self.maxCount)))"
                ))
            ) AS change
            \(part: ChangeStatement.named("change"))
        ) AS measured
        WHERE bytes_until <= \(Self.maxBytes) * wanted / all_wanted OR number = 1
        """
    }
}
