package import Postgres
import RecordSchema

/// The table `grants`: parts of the statements that write it.
///
/// Triggers write the grants of photos, in the collection 0.
package enum GrantTable {
    /// A grant's new row.
    struct Row: Equatable {
        let collectionID: Int
        /// The record's key.
        let key: Int
        let stream: Int
        let rights: Rights
        /// The number of the last change that the stream showed; nil if it never showed the record.
        let number: Int?
        /// The number of the change since which the stream shows the record; nil if it does not.
        let shownNumber: Int?

        /// Whether it has no rights, and its stream never showed the record.
        var isUseless: Bool { rights.isEmpty && number == nil }
    }

    /// Adds or changes grants.
    static func writing(_ rows: [Row]) -> PostgresQuery {
        """
        INSERT INTO grants AS old (collection_id, record_key, stream_id, rights, seq, shown_seq, ended_at)
        SELECT collection_id, key, stream, rights, number, shown,
            CASE WHEN number IS NOT NULL AND rights % 2 = 0 THEN now() AT TIME ZONE 'UTC' END
        FROM unnest(
            \(rows.map(\.collectionID)), \(rows.map(\.key)), \(rows.map(\.stream)), \(rows.map(\.rights.rawValue)),
            \(rows.map(\.number)), \(rows.map(\.shownNumber))
        ) AS new (collection_id, key, stream, rights, number, shown)
        ON CONFLICT (collection_id, record_key, stream_id) DO UPDATE SET rights = excluded.rights,
            seq = excluded.seq, shown_seq = excluded.shown_seq,
            ended_at = CASE WHEN old.seq = excluded.seq THEN old.ended_at ELSE excluded.ended_at END
        """
    }

    /// Removes grants.
    static func removal(of rows: [Row]) -> PostgresQuery {
        """
        DELETE FROM grants
        USING unnest(\(rows.map(\.collectionID)), \(rows.map(\.key)), \(rows.map(\.stream)))
            AS old (collection, key, stream)
        WHERE collection_id = collection AND record_key = key AND stream_id = stream
        """
    }

    /// Removes the grants of records; the rows are `stream_id`, `record_key` and `rights`.
    static func removal(ofRecords keys: PostgresQuery, in collectionID: Int) -> PostgresQuery {
        """
        DELETE FROM grants WHERE collection_id = \(collectionID) AND record_key IN (\(part: keys))
        RETURNING stream_id, record_key, rights
        """
    }

    /// Removes some grants of a stream.
    package static func removal(ofStream stream: PostgresQuery, rowCount: Int) -> PostgresQuery {
        """
        DELETE FROM grants WHERE (collection_id, record_key, stream_id) IN (
            SELECT collection_id, record_key, stream_id FROM grants WHERE stream_id = (\(part: stream)) LIMIT \(rowCount)
        )
        """
    }

    /// Selects grants without rights that ended long ago, the oldest first.
    ///
    /// The index `grants_forgettable_index` has only these.
    static func ended(days: Int, rowCount: Int) -> PostgresQuery {
        """
        SELECT collection_id, record_key, stream_id FROM grants
        WHERE rights = 0 AND ended_at < now() AT TIME ZONE 'UTC' - \(days) * interval '1 day'
        ORDER BY ended_at LIMIT \(rowCount)
        """
    }

    /// Removes such grants of some streams; the rows are `stream_id` and `seq`.
    static func removal(of ended: PostgresQuery, ofStreams streams: [Int]) -> PostgresQuery {
        """
        DELETE FROM grants WHERE (collection_id, record_key, stream_id) IN (\(part: ended))
            AND stream_id = ANY(\(streams)) RETURNING stream_id, seq
        """
    }
}
