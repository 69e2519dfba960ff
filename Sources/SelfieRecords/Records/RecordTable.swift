package import Postgres
import RecordSchema

/// The tables `records`, `record_index`, `record_references` and `photo_references`.
///
/// These are parts of the statements that write them.
package enum RecordTable {
    /// A record's new row.
    struct Row {
        let key: Int
        let name: RecordName
        let ownerID: Int
        let data: String
        /// When a new record was created and changed; nil for now.
        var createdAt: Timestamp?
        var updatedAt: Timestamp?
        let expiresAt: Timestamp?
        /// As ``SentDigests`` makes it; nil for a record that is not sent to another member's inbox.
        let sentDigest: String?
    }

    /// The value of an indexed field, for one stream.
    struct Indexed {
        let stream: Int
        let collectionID: Int
        let field: String
        let value: IndexValue
        let key: Int
    }

    /// A field that refers to a row.
    struct Reference {
        let key: Int
        let field: String
        /// The id in an array; empty for a field with one value.
        let element: String
        /// The key of the record, or the row of the photo, that it refers to.
        let target: Int
        /// The user who has set the reference to a record, or who owns the photo.
        let ownerID: Int
    }

    /// Adds records.
    ///
    /// The versions of an id that was used before continue, so that old entity tags do not match. The rows are `key` and
    /// `version`.
    static func adding(_ rows: [Row]) -> PostgresQuery {
        // Two calls that add the same ids wait for each other in one order.
        """
        INSERT INTO records (key, collection_id, recipient_id, id, owner_id, data, byte_count, sent_digest,
            sent_byte_count, created_at, updated_at, expires_at, sent_expires_at, version)
        OVERRIDING SYSTEM VALUE
        SELECT key, collection_id, recipient_id, id, owner_id, data::json, octet_length(data), decode(digest, 'hex'),
            CASE WHEN digest IS NOT NULL THEN octet_length(data) END, created_at, updated_at, expires_at,
            CASE WHEN digest IS NOT NULL THEN expires_at END,
            1 + coalesce((
                SELECT max(version) FROM records AS old WHERE old.collection_id = new.collection_id
                    AND old.recipient_id = new.recipient_id AND old.id = new.id AND old.deleted_at IS NOT NULL
            ), 0)
        FROM (
            SELECT key, collection_id, coalesce(recipient_id, 0) AS recipient_id, id, owner_id, data,
                coalesce(timestamp 'epoch' + creation * interval '1 millisecond', now() AT TIME ZONE 'UTC') AS created_at,
                coalesce(timestamp 'epoch' + change * interval '1 millisecond', now() AT TIME ZONE 'UTC') AS updated_at,
                timestamp 'epoch' + expiry * interval '1 millisecond' AS expires_at, digest
            FROM unnest(
                \(rows.map(\.key)), \(rows.map(\.name.collectionID)), \(rows.map(\.name.recipientID)), \(rows.map(\.name.id)),
                \(rows.map(\.ownerID)), \(rows.map(\.data)), \(rows.map { $0.createdAt?.milliseconds }),
                \(rows.map { $0.updatedAt?.milliseconds }), \(rows.map { $0.expiresAt?.milliseconds }), \(rows.map(\.sentDigest))
            ) AS given (key, collection_id, recipient_id, id, owner_id, data, creation, change, expiry, digest)
        ) AS new
        ORDER BY id RETURNING key, version
        """
    }

    /// Changes records.
    static func changing(_ rows: [Row]) -> PostgresQuery {
        """
        UPDATE records SET data = new.data::json, byte_count = octet_length(new.data), version = version + 1,
            updated_at = now() AT TIME ZONE 'UTC', expires_at = timestamp 'epoch' + expiry * interval '1 millisecond'
        FROM unnest(\(rows.map(\.key)), \(rows.map(\.data)), \(rows.map { $0.expiresAt?.milliseconds }))
            AS new (key, data, expiry)
        WHERE records.key = new.key
        """
    }

    /// Makes records tombstones: only their ids, owners and grants are left.
    ///
    /// References to them keep their rows.
    static func deleting(_ keys: [Int]) -> PostgresQuery {
        """
        UPDATE records SET data = NULL, byte_count = 0, version = version + 1, expires_at = NULL,
            updated_at = now() AT TIME ZONE 'UTC', deleted_at = now() AT TIME ZONE 'UTC'
        WHERE key = ANY(\(keys))
        """
    }

    /// Writes index values and references, as parts of a statement.
    ///
    /// The keys are those of existing records, whose other values and references are removed.
    static func linking(
        _ keys: [Int],
        _ indexed: [Indexed],
        linked: [(key: Int, field: String, element: String)],
        records: [Reference],
        photos: [Reference]
    ) -> [PostgresQuery] {
        var parts: [PostgresQuery] = []
        if !keys.isEmpty {
            parts.append(
                """
                unindexed AS (
                    DELETE FROM record_index WHERE record_key = ANY(\(keys)) AND (stream_id, field, value, record_key) NOT IN (
                        SELECT * FROM unnest(
                            \(indexed.map(\.stream)), \(indexed.map(\.field)), \(indexed.map(\.value.text)), \(indexed.map(\.key))
                        )
                    )
                )
                """
            )
            for (name, table) in [("unreferred", "record_references"), ("unpictured", "photo_references")]
                as [(PostgresQuery, PostgresQuery)]
            {
                parts.append(
                    """
                    \(part: name) AS (
                        DELETE FROM \(part: table) WHERE record_key = ANY(\(keys)) AND (record_key, field, element) NOT IN (
                            SELECT * FROM unnest(\(linked.map(\.key)), \(linked.map(\.field)), \(linked.map(\.element)))
                        )
                    )
                    """
                )
            }
        }
        if !indexed.isEmpty {
            parts.append(
                """
                indexed AS (
                    INSERT INTO record_index (stream_id, collection_id, field, value, record_key)
                    SELECT * FROM unnest(
                        \(indexed.map(\.stream)), \(indexed.map(\.collectionID)), \(indexed.map(\.field)),
                        \(indexed.map(\.value.text)), \(indexed.map(\.key))
                    )
                    ON CONFLICT DO NOTHING
                )
                """
            )
        }
        for (name, table, target, owner, rows) in [
            ("referred", "record_references", "target_key", "owner_id", records),
            ("pictured", "photo_references", "photo_id", "photo_owner_id", photos),
        ] as [(PostgresQuery, PostgresQuery, PostgresQuery, PostgresQuery, [Reference])] where !rows.isEmpty {
            parts.append(
                """
                \(part: name) AS (
                    INSERT INTO \(part: table) (record_key, field, element, \(part: target), \(part: owner))
                    SELECT * FROM unnest(
                        \(rows.map(\.key)), \(rows.map(\.field)), \(rows.map(\.element)), \(rows.map(\.target)),
                        \(rows.map(\.ownerID))
                    )
                    ON CONFLICT (record_key, field, element) DO UPDATE
                        SET \(part: target) = excluded.\(part: target), \(part: owner) = excluded.\(part: owner)
                )
                """
            )
        }
        return parts
    }

    // MARK: Removal without a trace

    /// Selects the values of records that other tables count: `key`, `owner_id`, `recipient_id`, `byte_count`,
    /// `sent_byte_count` and `is_there`.
    static func counted(_ keys: [Int]) -> PostgresQuery {
        """
        SELECT key, owner_id, nullif(recipient_id, 0) AS recipient_id, byte_count,
            coalesce(sent_byte_count, byte_count) AS sent_byte_count, deleted_at IS NULL AS is_there
        FROM records WHERE key = ANY(\(keys))
        """
    }

    /// Removes records with their index values and references, but not their targets, as parts of a statement.
    static func removal(of keys: PostgresQuery) -> [PostgresQuery] {
        [
            "unindexed AS (DELETE FROM record_index WHERE record_key IN (\(part: keys)))",
            """
            unreferred AS (
                DELETE FROM record_references WHERE record_key IN (\(part: keys)) OR target_key IN (\(part: keys))
            )
            """,
            "unpictured AS (DELETE FROM photo_references WHERE record_key IN (\(part: keys)))",
            "removed AS (DELETE FROM records WHERE key IN (\(part: keys)))",
        ]
    }

    /// Removes tombstones, which have no other rows.
    static func removal(ofTombstones keys: [Int]) -> PostgresQuery {
        "DELETE FROM records WHERE key = ANY(\(keys))"
    }

    /// Removes some of a stream's values of indexed fields.
    package static func indexRemoval(ofStream stream: Int, rowCount: Int) -> PostgresQuery {
        """
        DELETE FROM record_index WHERE (stream_id, collection_id, field, value, record_key) IN (
            SELECT stream_id, collection_id, field, value, record_key FROM record_index
            WHERE stream_id = \(stream) LIMIT \(rowCount)
        )
        """
    }
}
