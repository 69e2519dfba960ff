import Postgres
import RecordSchema
import SelfiePhotos

/// The statement that reads a user's next changes: it walks along all of the user's streams, from a number in each.
struct ChangeStatement {
    private let query: ChangeQuery
    private let schema: AppliedSchema
    /// The reader's positions in the streams.
    private let positions: [Int: ChangeCursor.Position]
    /// Whether only changes from now on are wanted.
    private let beginsNow: Bool
    private let reader: ChangeReader

    /// How many changes of a stream are looked at where only some collections are wanted.
    ///
    /// Without a limit, a reader would wait for as long as others have written.
    static let maxLookedAtCount = 2_000

    /// Reads what a user wants of all of the user's streams.
    init(_ query: ChangeQuery, from start: ChangeQuery.Start, by reader: ChangeReader, schema: AppliedSchema) {
        (self.query, self.reader, self.schema) = (query, reader, schema)
        positions = start.cursor?.positions ?? [:]
        beginsNow = start == .now
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
        let isWanted = isWanted
        let wantsAll = query.collections == nil && schema.readTwice.isEmpty
        let lookedAtCount = PostgresQuery(stringLiteral: "\(wantsAll ? query.limit + 1 : Self.maxLookedAtCount)")
        return """
            WITH asked AS MATERIALIZED (\(part: asked)),
            looked_at AS MATERIALIZED (
                SELECT change.*, \(part: isWanted) AS is_wanted,
                    row_number() OVER (PARTITION BY stream_id, \(part: isWanted) ORDER BY change.seq) AS rank
                FROM asked CROSS JOIN LATERAL (
                    \(part: Self.changes(after: "asked.since", of: "asked.id", limit: lookedAtCount))
                ) AS change
                WHERE asked.last > asked.since
            ),
            measured AS MATERIALIZED (
                SELECT looked_at.*, \(reader.userID) AS reader_id, change_id, is_deleted,
                    sum(\(part: Self.byteCount)) OVER (ORDER BY rank, stream_id) AS bytes_until,
                    row_number() OVER (ORDER BY rank, stream_id) AS number
                FROM (SELECT * FROM looked_at WHERE is_wanted ORDER BY rank, stream_id LIMIT \(query.limit)) AS looked_at
                \(part: Self.named("looked_at"))
            ),
            chosen AS MATERIALIZED (SELECT * FROM measured WHERE bytes_until <= \(query.maxBytes) OR number = 1),
            reached AS MATERIALIZED (\(part: reached(lookedAtCount)))
            SELECT first.*, coalesce(elsewhere.is_there, false) AS is_shown_elsewhere,
                coalesce(elsewhere.was_there, false) AS was_seen_elsewhere, \(part: Self.columns)
            FROM (VALUES (1)) AS one LEFT JOIN chosen ON true
            LEFT JOIN LATERAL (
                SELECT \(part: ChangeEpoch.columns), \(part: reader.session) AS session_expires_at, reached.* FROM reached
                WHERE coalesce(chosen.number, 1) = 1
            ) AS first ON true
            \(part: Self.contents(schema))
            \(part: Self.elsewhere)
            ORDER BY chosen.rank, chosen.stream_id
            """
    }

    /// The condition that a change is wanted, and that no other of the reader's streams shows it.
    private var isWanted: PostgresQuery {
        let isOfCollections: PostgresQuery = collectionIDs.map { "change.collection_id = ANY(\($0))" } ?? "true"
        let twice = schema.readTwice
        if twice.isEmpty { return isOfCollections }
        return """
            (\(part: isOfCollections) AND NOT EXISTS (
                SELECT FROM unnest(
                    \(twice.map(\.collection.id)), \(twice.map(\.stream)), \(twice.map(\.otherStream))
                ) AS twice (collection_id, stream_id, other_id)
                WHERE twice.collection_id = change.collection_id AND twice.stream_id = change.stream_id
                    AND other_id IN (SELECT id FROM asked)
            ))
            """
    }

    /// The streams, and whether the reader's position in each is still valid.
    private var asked: PostgresQuery {
        let known = positions.map { ($0.key, $0.value) }
        let ends = known.map(\.1.end)
        return """
            SELECT streams.id, streams.seq AS last, \(part: StreamEnd.microseconds(of: "started_at")) AS started, forgotten_seq,
                role_id,
                CASE WHEN \(beginsNow) THEN streams.seq ELSE coalesce(known.number, 0) END AS since,
                \(part: StreamEnd.isLost("known.last", givenUnder: "known.started")) AS is_lost
            FROM (\(part: reader.streams)) AS mine (id)
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
            ) AS other WHERE NOT chosen.is_shown
        ) AS elsewhere ON true
        """
}
