import Postgres
import RecordSchema
import SelfiePhotos

/// What all statements that read changes have in common.
extension ChangeStatement {
    /// Selects the next changes of a stream, in the order of their numbers.
    static func changes(after number: PostgresQuery, of stream: PostgresQuery, limit: PostgresQuery) -> PostgresQuery {
        """
        SELECT stream_id, collection_id, record_key, rights % 2 = 1 AS is_shown, seq, shown_seq, random_id
            FROM grants WHERE stream_id = \(part: stream) AND seq > \(part: number) ORDER BY seq LIMIT \(part: limit)
        """
    }

    /// Joins to a table of ``changes(after:of:limit:)`` what is known of a record, even if it was deleted.
    ///
    /// Each is looked up by its key. Without the limit, a plan may read all records that there are.
    static func named(_ table: PostgresQuery) -> PostgresQuery {
        """
        LEFT JOIN LATERAL (
            SELECT id AS change_id, deleted_at IS NOT NULL AS is_deleted, byte_count FROM records WHERE key = record_key LIMIT 1
        ) AS named ON \(part: table).collection_id > 0
        """
    }

    /// About how many bytes a change takes, of the columns of ``named(_:)``.
    static let byteCount: PostgresQuery = """
        \(Change.usualBytes) + CASE WHEN is_shown THEN coalesce(byte_count, 0) ELSE 0 END
        """

    /// The columns of a change, of the tables of ``contents(_:)``.
    static let columns: PostgresQuery = """
        chosen.stream_id, chosen.seq, chosen.shown_seq, chosen.is_shown,
        chosen.collection_id::bigint AS change_collection_id, chosen.random_id AS change_random_id,
        chosen.change_id, chosen.is_deleted,
        record.*, photo.name, photo.title, photo.random_id, photo.created_at AS uploaded_at, photo.byte_count,
        photo.content_type, photo.width, photo.height, photo.url_series
        """

    /// What is joined to `chosen`: changes, each with the `reader_id` of its stream's user.
    ///
    /// Streams of roles and collections have no such user, so their records come without `readers` and `writers`.
    ///
    /// Each is looked up by its key. Without the limits, a plan may read all records that there are.
    static func contents(_ schema: AppliedSchema) -> PostgresQuery {
        """
        LEFT JOIN LATERAL (
            SELECT \(part: RecordRow.columns) FROM records
            \(part: RecordRow.joins(namedUserID: "chosen.reader_id", collections: schema.allCollections))
            WHERE records.key = chosen.record_key AND \(part: RecordReader.isThere) LIMIT 1
        ) AS record ON chosen.collection_id > 0 AND chosen.is_shown
        LEFT JOIN LATERAL (\(part: PhotoStore.listed("chosen.record_key")) LIMIT 1) AS photo
            ON chosen.collection_id = 0 AND chosen.is_shown
        """
    }
}
