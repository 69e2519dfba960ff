import Postgres
import RecordSchema

/// The statement that compares streams and readers with the database, and reads the streams' next changes.
///
/// Each change of another process runs it once, so it is short: what it does not need, ``ChangeStatement`` does.
struct ComparisonStatement {
    /// Up to where the streams were read.
    let streams: [Int: ChangeCursor.Position]
    /// The streams whose next changes are read, at most ``maxReadCount``.
    let read: Set<Int>
    /// The readers to compare, with the streams of the roles that they had.
    let readers: [(reader: ChangeReader, roleStreams: Set<Int>)]
    let schema: AppliedSchema

    /// The most streams whose next changes are read at once.
    static let maxReadCount = 64
    /// The most changes of all these streams, which have equal shares.
    private static let maxCount = 256
    /// The bytes after which no second change of a stream is read, for all these streams, which have equal shares.
    private static let maxBytes = 256 << 10

    /// The statement.
    ///
    /// Each row has the epoch and the readers. It has a stream and its next change, if there are any.
    var text: PostgresQuery {
        let known = streams.map { ($0.key, $0.value) }
        let (ends, shares) = (known.map(\.1.end), max(1, read.count))
        return """
            SELECT \(part: ChangeEpoch.columns), \(part: ChangeReader.changed(since: readers)) AS changed_readers,
                asked.id AS asked_id, last, started, forgotten_seq, is_lost, \(part: ChangeStatement.columns)
            FROM (VALUES (1)) AS one LEFT JOIN (
                SELECT streams.id, streams.user_id, streams.seq AS last, forgotten_seq, since,
                    \(part: StreamEnd.microseconds(of: "started_at")) AS started,
                    \(part: StreamEnd.isLost("known.last", givenUnder: "known.started")) AS is_lost
                FROM unnest(
                    \(hidden: known.map(\.0)), \(hidden: ends.map(\.number)), \(hidden: ends.map(\.postgresStart)),
                    \(hidden: known.map { read.contains($0) ? $1.number : nil })
                ) AS known (id, last, started, since)
                CROSS JOIN LATERAL (SELECT * FROM streams WHERE streams.id = known.id LIMIT 1) AS streams
            ) AS asked ON true
            LEFT JOIN LATERAL (
                SELECT * FROM (
                    SELECT change.*, asked.user_id AS reader_id, change_id, is_deleted,
                        sum(\(part: ChangeStatement.byteCount)) OVER (ORDER BY seq) AS bytes_until,
                        row_number() OVER (ORDER BY seq) AS number
                    FROM (
                        \(part: ChangeStatement.changes(after: "asked.since", of: "asked.id", limit: "\(Self.maxCount / shares)"))
                    ) AS change
                    \(part: ChangeStatement.named("change"))
                ) AS measured
                WHERE bytes_until <= \(Self.maxBytes / shares) OR number = 1
            ) AS chosen ON last > since
            \(part: ChangeStatement.contents(schema))
            ORDER BY asked.id, chosen.seq
            """
    }
}
