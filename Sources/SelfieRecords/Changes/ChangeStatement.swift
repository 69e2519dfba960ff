import Postgres
import RecordSchema
package import SelfiePhotos

/// The statement that reads changes: it walks along the reader's streams, from where the reader is.
struct ChangeStatement {
    let query: ChangeQuery
    let reader: ChangeReader
    let start: ChangeQuery.Start
    let schema: AppliedSchema

    /// How many changes of a stream are looked at where only some collections are wanted.
    ///
    /// Without a limit, a reader would wait for as long as others have written.
    static let maxLookedAtCount = 2_000

    private var positions: [Int: Int] {
        if case .after(let cursor) = start { cursor.positions } else { [:] }
    }

    private var mark: Int? {
        if case .after(let cursor) = start { cursor.mark } else { nil }
    }

    /// The collections that are wanted; nil for all.
    private var collectionIDs: [Int]? {
        query.collections.map { names in
            names.compactMap { $0 == Schema.photosName ? 0 : try? schema.collection($0).id }
        }
    }

    /// The statement.
    ///
    /// Its first row has what ``ChangeCursor/check(_:filter:)`` needs. Each row has a change, or none where there is none.
    var text: PostgresQuery {
        let isWanted: PostgresQuery = collectionIDs.map { "change.collection_id = ANY(\($0))" } ?? "true"
        let lookedAtCount = PostgresQuery(
            stringLiteral: "\(query.collections == nil ? query.limit + 1 : Self.maxLookedAtCount)"
        )
        return """
            WITH present AS MATERIALIZED (\(part: present)),
            asked AS MATERIALIZED (\(part: asked)),
            looked_at AS MATERIALIZED (
                SELECT change.*, \(part: isWanted) AS is_wanted,
                    row_number() OVER (PARTITION BY stream_id, \(part: isWanted) ORDER BY change.seq) AS place
                FROM asked CROSS JOIN LATERAL (
                    SELECT \(part: Self.changeColumns)
                    FROM grants WHERE stream_id = asked.id AND seq > asked.since ORDER BY seq LIMIT \(part: lookedAtCount)
                ) AS change
                WHERE asked.last > asked.since
            ),
            measured AS MATERIALIZED (
                SELECT looked_at.*, sum(\(Change.usualBytes) + coalesce(byte_count, 0)) OVER (ORDER BY place, stream_id)
                    AS bytes_until, row_number() OVER (ORDER BY place, stream_id) AS number
                FROM (SELECT * FROM looked_at WHERE is_wanted ORDER BY place, stream_id LIMIT \(query.limit)) AS looked_at
                LEFT JOIN LATERAL (SELECT byte_count FROM records WHERE key = record_key LIMIT 1) AS record
                    ON looked_at.collection_id > 0 AND is_shown
            ),
            chosen AS MATERIALIZED (SELECT * FROM measured WHERE bytes_until <= \(query.maxBytes) OR number = 1),
            reached AS MATERIALIZED (\(part: reached(lookedAtCount)))
            SELECT present.*, reached.*, coalesce(elsewhere.is_there, false) AS is_shown_elsewhere,
                coalesce(elsewhere.was_there, false) AS was_seen_elsewhere, \(part: Self.columns)
            FROM present CROSS JOIN reached LEFT JOIN chosen ON true
            \(part: Self.contents(RecordRow.joins(userID: reader.userID ?? 0, collections: schema.allCollections)))
            \(part: Self.elsewhere)
            ORDER BY chosen.place, chosen.stream_id
            """
    }

    /// What is read beside the changes.
    private var present: PostgresQuery {
        """
        SELECT \(part: SchemaStore.versionColumn) AS schema_version, \(part: SchemaStore.clearedVersionColumn) AS cleared_version,
            coalesce((SELECT id FROM streams WHERE user_id = \(reader.userID ?? 0)), 0) AS own_stream_id,
            \(part: reader.session) AS session_expires_at, \(part: DatabaseStarts.columns(ofMark: mark))
        """
    }

    /// The reader's streams, and where the reader is in each.
    private var asked: PostgresQuery {
        let since: PostgresQuery =
            start == .now ? "streams.seq" : "coalesce(since.position, 0)"
        return """
            SELECT streams.id, streams.seq AS last, forgotten_seq, \(part: since) AS since,
                \(part: DatabaseStarts.lastCommon(ofMark: mark)) AS last_common
            FROM (\(part: reader.streams)) AS mine (id)
            CROSS JOIN LATERAL (SELECT * FROM streams WHERE streams.id = mine.id LIMIT 1) AS streams
            LEFT JOIN unnest(\(Array(positions.keys)), \(Array(positions.values))) AS since (id, position)
                ON since.id = streams.id
            """
    }

    /// Where the reader is afterwards in each stream, as arrays.
    private func reached(_ lookedAtCount: PostgresQuery) -> PostgresQuery {
        """
        SELECT coalesce(array_agg(asked.id), ARRAY[]::bigint[]) AS stream_ids,
            coalesce(array_agg(asked.last), ARRAY[]::bigint[]) AS last_numbers,
            coalesce(array_agg(forgotten_seq), ARRAY[]::bigint[]) AS forgotten_numbers,
            coalesce(array_agg(last_common), ARRAY[]::bigint[]) AS last_common_numbers,
            coalesce(array_agg(coalesce(first_left - 1, last_looked_at, asked.last)), ARRAY[]::bigint[]) AS reached_numbers
        FROM asked LEFT JOIN (
            SELECT looked_at.stream_id, min(looked_at.seq) FILTER (WHERE looked_at.is_wanted AND chosen.seq IS NULL) AS first_left,
                CASE WHEN count(*) = \(part: lookedAtCount) THEN max(looked_at.seq) END AS last_looked_at
            FROM looked_at LEFT JOIN chosen ON chosen.stream_id = looked_at.stream_id AND chosen.seq = looked_at.seq
            GROUP BY looked_at.stream_id
        ) AS ends ON ends.stream_id = asked.id
        """
    }

    /// A record that one stream stops to show may be shown by another one of the reader's, or the reader may have got it there.
    ///
    /// Each is looked up. Without the limit, a plan may first gather all that anybody is shown.
    private static let elsewhere: PostgresQuery = """
        LEFT JOIN LATERAL (
            SELECT bool_or(rights % 2 = 1) AS is_there, bool_or(seq <= asked.since) AS was_there
            FROM asked CROSS JOIN LATERAL (
                SELECT rights, seq FROM grants WHERE stream_id = asked.id AND collection_id = chosen.collection_id
                    AND record_key = chosen.record_key LIMIT 1
            ) AS other WHERE NOT chosen.is_shown
        ) AS elsewhere ON true
        """

    // MARK: Changes

    static let changeColumns: PostgresQuery =
        "stream_id, collection_id, record_key, rights % 2 = 1 AS is_shown, seq, shown_seq, random_id"

    /// The columns of a change, of the tables of ``contents``.
    static let columns: PostgresQuery = """
        chosen.stream_id, chosen.seq, chosen.shown_seq, chosen.is_shown,
        chosen.collection_id::bigint AS change_collection_id, chosen.random_id AS change_random_id,
        named.id AS change_id, named.is_gone,
        record.*, photo.name, photo.title, photo.random_id, photo.created_at AS uploaded_at, photo.byte_count,
        photo.content_type, photo.width, photo.height, photo.url_series
        """

    /// What is joined to `chosen`.
    ///
    /// Each is looked up by its key. Without the limits, a plan may read all records that there are.
    ///
    /// - Parameter joins: What is joined to `records`.
    /// - Returns: Joins.
    static func contents(_ joins: PostgresQuery) -> PostgresQuery {
        """
        LEFT JOIN LATERAL (
            SELECT id, deleted_at IS NOT NULL AS is_gone FROM records WHERE key = chosen.record_key LIMIT 1
        ) AS named ON chosen.collection_id > 0
        LEFT JOIN LATERAL (
            SELECT \(part: RecordRow.columns) FROM records \(part: joins)
            WHERE records.key = chosen.record_key AND \(part: RecordReader.isThere) LIMIT 1
        ) AS record ON chosen.collection_id > 0 AND chosen.is_shown
        LEFT JOIN LATERAL (\(part: PhotoStore.listed("chosen.record_key")) LIMIT 1) AS photo
            ON chosen.collection_id = 0 AND chosen.is_shown
        """
    }
}
