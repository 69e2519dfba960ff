import Postgres
import RecordSchema
import SelfiePhotos

/// The statement that reads changes: it walks along streams, from a number in each.
struct ChangeStatement {
    private let query: ChangeQuery
    private let schema: AppliedSchema
    /// Selects the ids of the streams.
    private let streams: PostgresQuery
    /// The reader's positions in them.
    private let positions: [Int: ChangeCursor.Position]
    /// Whether only changes from now on are wanted.
    private let beginsNow: Bool
    /// The reader of all these streams; nil where each has readers of its own.
    private let userID: Int?
    /// Columns that are read in the same snapshot.
    private let besides: PostgresQuery
    /// Which changes are read even if they are too large.
    private let always: PostgresQuery

    /// How many changes of a stream are looked at where only some collections are wanted.
    ///
    /// Without a limit, a reader would wait for as long as others have written.
    static let maxLookedAtCount = 2_000
    /// The most streams that are read for all of their readers at once, each of which gets a change.
    static let maxStreamCount = 64
    /// The most changes of all these streams.
    static let maxSharedCount = 256
    /// The bytes after which no second change of such a stream is read.
    private static let maxSharedBytes = 256 << 10

    /// Reads what a user wants of all of the user's streams.
    init(_ query: ChangeQuery, from start: ChangeQuery.Start, by reader: ChangeReader, schema: AppliedSchema) {
        (self.query, self.schema) = (query, schema)
        streams = reader.streams
        positions = start.cursor?.positions ?? [:]
        beginsNow = start == .now
        userID = reader.userID
        besides = "\(part: reader.session) AS session_expires_at"
        always = "number = 1"
    }

    /// Reads the next changes of some streams for all of their readers, and compares what the readers have access to.
    init(
        of streams: [Int: ChangeCursor.Position],
        comparing readers: [(reader: ChangeReader, roleStreams: Set<Int>)],
        schema: AppliedSchema
    ) {
        query = ChangeQuery(collections: nil, limit: Self.maxSharedCount, maxBytes: Self.maxSharedBytes)
        self.schema = schema
        self.streams = "SELECT unnest(\(hidden: Array(streams.keys)))"
        (positions, beginsNow, userID) = (streams, false, nil)
        besides = "\(part: ChangeReader.changed(since: readers)) AS changed_readers"
        always = "rank = 1 AND number <= \(Self.maxStreamCount)"
    }

    /// The collections that are wanted; nil for all.
    private var collectionIDs: [Int]? {
        query.collections.map { names in
            names.compactMap { $0 == Schema.photosName ? 0 : try? schema.collection($0).id }
        }
    }

    /// The statement.
    ///
    /// Its first row has what ``ChangeCursor/require(_:filter:)`` needs. Each row has a change; without changes, there
    /// is one row without a change.
    var text: PostgresQuery {
        let isWanted: PostgresQuery = collectionIDs.map { "change.collection_id = ANY(\($0))" } ?? "true"
        let lookedAtCount = PostgresQuery(
            stringLiteral: "\(query.collections == nil ? query.limit + 1 : Self.maxLookedAtCount)"
        )
        return """
            WITH asked AS MATERIALIZED (\(part: asked)),
            looked_at AS MATERIALIZED (
                SELECT change.*, asked.user_id, \(part: isWanted) AS is_wanted,
                    row_number() OVER (PARTITION BY stream_id, \(part: isWanted) ORDER BY change.seq) AS rank
                FROM asked CROSS JOIN LATERAL (
                    SELECT stream_id, collection_id, record_key, rights % 2 = 1 AS is_shown, seq, shown_seq, random_id
                    FROM grants WHERE stream_id = asked.id AND seq > asked.since ORDER BY seq LIMIT \(part: lookedAtCount)
                ) AS change
                WHERE asked.last > asked.since
            ),
            measured AS MATERIALIZED (
                SELECT looked_at.*, sum(\(Change.usualBytes) + coalesce(byte_count, 0)) OVER (ORDER BY rank, stream_id)
                    AS bytes_until, row_number() OVER (ORDER BY rank, stream_id) AS number
                FROM (SELECT * FROM looked_at WHERE is_wanted ORDER BY rank, stream_id LIMIT \(query.limit)) AS looked_at
                LEFT JOIN LATERAL (SELECT byte_count FROM records WHERE key = record_key LIMIT 1) AS record
                    ON looked_at.collection_id > 0 AND is_shown
            ),
            chosen AS MATERIALIZED (SELECT * FROM measured WHERE bytes_until <= \(query.maxBytes) OR \(part: always)),
            reached AS MATERIALIZED (\(part: reached(lookedAtCount)))
            SELECT first.*, coalesce(elsewhere.is_there, false) AS is_shown_elsewhere,
                coalesce(elsewhere.was_there, false) AS was_seen_elsewhere, \(part: Self.columns)
            FROM (VALUES (1)) AS one LEFT JOIN chosen ON true
            LEFT JOIN LATERAL (
                SELECT \(part: ChangeEpoch.columns), \(part: besides), reached.* FROM reached
                WHERE coalesce(chosen.number, 1) = 1
            ) AS first ON true
            \(part: contents)
            \(part: Self.elsewhere)
            ORDER BY chosen.rank, chosen.stream_id
            """
    }

    /// The streams, and whether the reader's position in each is still valid.
    private var asked: PostgresQuery {
        let known = positions.map { ($0.key, $0.value) }
        let ends = known.map(\.1.end)
        return """
            SELECT streams.id, streams.seq AS last, \(part: StreamEnd.microseconds(of: "started_at")) AS started, forgotten_seq,
                role_id, coalesce(\(userID), streams.user_id) AS user_id,
                CASE WHEN \(beginsNow) THEN streams.seq ELSE coalesce(known.number, 0) END AS since,
                \(part: StreamEnd.isLost("known.last", givenUnder: "known.started")) AS is_lost
            FROM (\(part: streams)) AS mine (id)
            CROSS JOIN LATERAL (SELECT * FROM streams WHERE streams.id = mine.id LIMIT 1) AS streams
            LEFT JOIN unnest(
                \(hidden: known.map(\.0)), \(hidden: known.map(\.1.number)), \(hidden: ends.map(\.number)),
                \(hidden: ends.map(\.postgresStart))
            ) AS known (id, number, last, started) ON known.id = streams.id
            """
    }

    /// The state of the streams, as arrays, with the reader's positions afterwards.
    private func reached(_ lookedAtCount: PostgresQuery) -> PostgresQuery {
        """
        SELECT coalesce(array_agg(asked.id), ARRAY[]::bigint[]) AS stream_ids,
            coalesce(array_agg(asked.last), ARRAY[]::bigint[]) AS last_numbers,
            coalesce(array_agg(asked.started), ARRAY[]::bigint[]) AS starts,
            coalesce(array_agg(forgotten_seq), ARRAY[]::bigint[]) AS forgotten_numbers,
            coalesce(array_agg(asked.id) FILTER (WHERE is_lost), ARRAY[]::bigint[]) AS lost_streams,
            coalesce(array_agg(asked.id) FILTER (WHERE role_id IS NOT NULL), ARRAY[]::bigint[]) AS role_streams,
            coalesce(array_agg(coalesce(first_left - 1, last_looked_at, asked.last)), ARRAY[]::bigint[]) AS reached_numbers
        FROM asked LEFT JOIN (
            SELECT looked_at.stream_id, min(looked_at.seq) FILTER (WHERE looked_at.is_wanted AND chosen.seq IS NULL) AS first_left,
                CASE WHEN count(*) = \(part: lookedAtCount) THEN max(looked_at.seq) END AS last_looked_at
            FROM looked_at LEFT JOIN chosen ON chosen.stream_id = looked_at.stream_id AND chosen.seq = looked_at.seq
            GROUP BY looked_at.stream_id
        ) AS ends ON ends.stream_id = asked.id
        """
    }

    /// Another stream of the reader's may still show a record that this one no longer shows, or may have shown it
    /// before.
    ///
    /// Each is looked up. Without the limit, a plan may first read the grants of all users.
    private static let elsewhere: PostgresQuery = """
        LEFT JOIN LATERAL (
            SELECT bool_or(rights % 2 = 1) AS is_there, bool_or(seq <= asked.since) AS was_there
            FROM asked CROSS JOIN LATERAL (
                SELECT rights, seq FROM grants WHERE stream_id = asked.id AND collection_id = chosen.collection_id
                    AND record_key = chosen.record_key LIMIT 1
            ) AS other WHERE NOT chosen.is_shown AND asked.user_id = chosen.user_id
        ) AS elsewhere ON true
        """

    /// The columns of a change, of the tables of ``contents``.
    private static let columns: PostgresQuery = """
        chosen.stream_id, chosen.seq, chosen.shown_seq, chosen.is_shown,
        chosen.collection_id::bigint AS change_collection_id, chosen.random_id AS change_random_id,
        named.id AS change_id, named.is_deleted,
        record.*, photo.name, photo.title, photo.random_id, photo.created_at AS uploaded_at, photo.byte_count,
        photo.content_type, photo.width, photo.height, photo.url_series
        """

    /// What is joined to `chosen`.
    ///
    /// Each is looked up by its key. Without the limits, a plan may read all records that there are.
    private var contents: PostgresQuery {
        """
        LEFT JOIN LATERAL (
            SELECT id, deleted_at IS NOT NULL AS is_deleted FROM records WHERE key = chosen.record_key LIMIT 1
        ) AS named ON chosen.collection_id > 0
        LEFT JOIN LATERAL (
            SELECT \(part: RecordRow.columns) FROM records
            \(part: RecordRow.joins(namedUserID: "chosen.user_id", collections: schema.allCollections))
            WHERE records.key = chosen.record_key AND \(part: RecordReader.isThere) LIMIT 1
        ) AS record ON chosen.collection_id > 0 AND chosen.is_shown
        LEFT JOIN LATERAL (\(part: PhotoStore.listed("chosen.record_key")) LIMIT 1) AS photo
            ON chosen.collection_id = 0 AND chosen.is_shown
        """
    }
}
