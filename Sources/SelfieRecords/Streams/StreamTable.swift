package import Postgres

/// The tables `streams` and `stream_authors`: parts of the statements that write them.
///
/// A trigger adds and removes the streams of users. Other triggers number the changes of photos.
package enum StreamTable {
    /// The counters of a stream, or what is added to them.
    struct Row: Sendable, Equatable {
        let id: Int
        /// The number of the last change.
        var number = 0
        /// How many records its user owns, tombstones included.
        var recordCount = 0
        /// How many records wait in its user's inboxes.
        var inboxCount = 0
        /// The bytes of data that count for its user.
        var byteCount = 0
    }

    /// A selection of streams.
    enum Selection {
        case ids([Int])
        /// Those of users.
        case users([Int])

        fileprivate var condition: PostgresQuery {
            switch self {
            case .ids(let ids): "id = ANY(\(ids))"
            case .users(let ids): "user_id = ANY(\(ids))"
            }
        }
    }

    /// Locks streams in the order of their ids, after everything else.
    static func locking(_ streams: Selection, selecting columns: PostgresQuery = "") -> PostgresQuery {
        "SELECT \(part: columns) FROM streams WHERE \(part: streams.condition) ORDER BY id FOR NO KEY UPDATE"
    }

    /// Locks the stream of a deleted account, and waits for transactions that refer to it.
    package static func lockingForRemoval(ofUser userID: Int) -> PostgresQuery {
        "SELECT id FROM streams WHERE user_id = \(userID) FOR UPDATE"
    }

    /// Writes counters.
    static func writing(_ rows: [Row]) -> PostgresQuery {
        """
        UPDATE streams SET seq = new.seq, record_count = new.records, inbox_count = new.waiting, byte_count = new.bytes
        FROM unnest(
            \(rows.map(\.id)), \(rows.map(\.number)), \(rows.map(\.recordCount)), \(rows.map(\.inboxCount)),
            \(rows.map(\.byteCount))
        ) AS new (id, seq, records, waiting, bytes)
        WHERE streams.id = new.id
        """
    }

    /// Adds the streams of roles (`role_id`) or collections (`collection_id`).
    static func adding(_ column: PostgresQuery, _ ids: PostgresQuery) -> PostgresQuery {
        "INSERT INTO streams (\(part: column)) \(part: ids)"
    }

    /// Subtracts removals that get no number: `owned`, `waiting` and `bytes` of each `user_id`.
    static func subtracting(_ sums: PostgresQuery) -> PostgresQuery {
        """
        UPDATE streams SET record_count = greatest(0, record_count - owned),
            inbox_count = greatest(0, inbox_count - waiting), byte_count = greatest(0, byte_count - bytes)
        FROM (\(part: sums)) AS sums WHERE streams.user_id = sums.user_id
        """
    }

    /// Notes up to which number streams have lost changes, from a table with `stream_id` and `seq`.
    static func forgetting(_ forgotten: PostgresQuery) -> PostgresQuery {
        """
        UPDATE streams SET forgotten_seq = greatest(forgotten_seq, last) FROM (
            SELECT stream_id, max(seq) AS last FROM \(part: forgotten) GROUP BY stream_id
        ) AS sums WHERE streams.id = sums.stream_id
        """
    }

    // MARK: Authors

    /// A member's stream, and the owner of records that it shows.
    struct AuthoredStream: Hashable {
        let stream: Int
        let authorID: Int
    }

    /// How many records of an author a stream shows, or what is added to that.
    struct AuthorCounts: Equatable {
        var recordCount = 0
        /// How many of them wait in the stream's inboxes.
        var inboxCount = 0
    }

    /// Counts records of authors; the rows are `stream_id`, `author_id`, `record_count` and `inbox_count`.
    static func counting(_ changes: [AuthoredStream: AuthorCounts]) -> PostgresQuery {
        let rows = changes.sorted { ($0.key.stream, $0.key.authorID) < ($1.key.stream, $1.key.authorID) }
        return """
            INSERT INTO stream_authors AS old (stream_id, author_id, record_count, inbox_count)
            SELECT * FROM unnest(
                \(rows.map(\.key.stream)), \(rows.map(\.key.authorID)), \(rows.map(\.value.recordCount)),
                \(rows.map(\.value.inboxCount))
            )
            ON CONFLICT (stream_id, author_id) DO UPDATE
                SET record_count = greatest(0, old.record_count + excluded.record_count),
                    inbox_count = greatest(0, old.inbox_count + excluded.inbox_count)
            RETURNING stream_id, author_id, record_count, inbox_count
            """
    }

    /// Subtracts removals that get no number: `count` and `waiting` of each `stream_id` and `author_id`.
    static func subtractingAuthors(_ sums: PostgresQuery) -> PostgresQuery {
        """
        UPDATE stream_authors SET record_count = record_count - sums.count, inbox_count = inbox_count - sums.waiting
        FROM (\(part: sums)) AS sums
        WHERE stream_authors.stream_id = sums.stream_id AND stream_authors.author_id = sums.author_id
        """
    }

    /// Removes some rows of authors without records in the stream.
    static func removalOfUnusedAuthors(rowCount: Int) -> PostgresQuery {
        """
        DELETE FROM stream_authors WHERE (stream_id, author_id) IN (
            SELECT stream_id, author_id FROM stream_authors WHERE record_count <= 0 LIMIT \(rowCount)
            FOR UPDATE SKIP LOCKED
        ) AND record_count <= 0
        """
    }
}
