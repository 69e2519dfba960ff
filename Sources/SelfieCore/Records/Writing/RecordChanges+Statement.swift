import Postgres

extension RecordChanges {
    /// The statement that writes all rows.
    ///
    /// What is not needed is left out.
    ///
    /// - Parameters:
    ///   - collectionID: The collection of new records.
    ///   - recipientID: The user in whose inbox they are; 0 for other records.
    ///   - ownerID: Their owner.
    /// - Returns: The statement, whose rows are the keys and versions of new records.
    func statement(collectionID: Int, recipientID: Int, ownerID: Int) -> PostgresQuery {
        var parts: [PostgresQuery] = [numbering]
        if !added.keys.isEmpty {
            // Two calls that add the same ids wait for each other in one order.
            parts.append(
                """
                added AS (
                    INSERT INTO records (key, collection_id, recipient_id, id, owner_id, data, byte_count, sent_digest,
                        sent_byte_count, expires_at, sent_expires_at, version)
                    OVERRIDING SYSTEM VALUE
                    SELECT key, \(collectionID), \(recipientID), id, \(ownerID), data::json, octet_length(data),
                        CASE WHEN digest <> '' THEN decode(digest, 'hex') END,
                        CASE WHEN digest <> '' THEN octet_length(data) END, ends_at, CASE WHEN digest <> '' THEN ends_at END,
                        1 + coalesce((
                            SELECT max(version) FROM records AS old WHERE old.collection_id = \(collectionID)
                                AND old.recipient_id = \(recipientID) AND old.id = new.id AND old.deleted_at IS NOT NULL
                        ), 0)
                    FROM unnest(\(added.keys), \(added.ids), \(added.data), \(added.expiries), \(added.digests))
                        AS new (key, id, data, expiry, digest)
                    CROSS JOIN LATERAL (
                        SELECT CASE WHEN expiry > 0 THEN timestamp 'epoch' + expiry * interval '1 millisecond' END AS ends_at
                    ) AS ends
                    ORDER BY id RETURNING key, version
                )
                """
            )
        }
        if !changed.keys.isEmpty {
            parts.append(
                """
                changed AS (
                    UPDATE records SET data = new.data::json, byte_count = octet_length(new.data), version = version + 1,
                        updated_at = now() AT TIME ZONE 'UTC', expires_at = CASE
                            WHEN expiry > 0 THEN timestamp 'epoch' + expiry * interval '1 millisecond'
                            WHEN expiry < 0 THEN expires_at
                        END
                    FROM unnest(\(changed.keys), \(changed.data), \(changed.expiries)) AS new (key, data, expiry)
                    WHERE records.key = new.key
                )
                """
            )
        }
        if !gone.isEmpty { parts.append(removal) }
        if !authored.isEmpty { parts.append(counting) }
        if !granted.keys.isEmpty { parts.append(granting) }
        if !dropped.keys.isEmpty {
            parts.append(
                """
                dropped AS (
                    DELETE FROM grants
                    USING unnest(\(dropped.collections), \(dropped.keys), \(dropped.streams)) AS old (collection, key, stream)
                    WHERE collection_id = collection AND record_key = key AND stream_id = stream
                )
                """
            )
        }
        if !existingKeys.isEmpty { parts += cleaning }
        parts += linking
        let text = parts.dropFirst().reduce(parts[0]) { "\(part: $0), \(part: $1)" }
        let versions: PostgresQuery =
            added.keys.isEmpty ? "SELECT NULL::bigint, NULL::bigint WHERE false" : "SELECT key, version FROM added"
        let counts: PostgresQuery =
            authored.isEmpty
            ? "SELECT NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint WHERE false"
            : "SELECT stream_id, author_id::bigint, record_count, inbox_count FROM counted"
        return """
            WITH \(part: text)
            SELECT key, version, NULL::bigint AS stream_id, NULL::bigint AS author_id, NULL::bigint AS record_count,
                NULL::bigint AS inbox_count
            FROM (\(part: versions)) AS versions (key, version)
            UNION ALL SELECT NULL, NULL, stream_id, author_id, record_count, inbox_count
            FROM (\(part: counts)) AS counts (stream_id, author_id, record_count, inbox_count)
            """
    }

    private var counting: PostgresQuery {
        let pairs = authored.keys.sorted { ($0.stream, $0.authorID) < ($1.stream, $1.authorID) }
        return """
            counted AS (
                INSERT INTO stream_authors AS old (stream_id, author_id, record_count, inbox_count)
                SELECT * FROM unnest(
                    \(pairs.map(\.stream)), \(pairs.map(\.authorID)), \(pairs.map { authored[$0]?.change ?? 0 }),
                    \(pairs.map { authored[$0]?.inboxChange ?? 0 })
                )
                ON CONFLICT (stream_id, author_id) DO UPDATE
                    SET record_count = greatest(0, old.record_count + excluded.record_count),
                        inbox_count = greatest(0, old.inbox_count + excluded.inbox_count)
                RETURNING stream_id, author_id, record_count, inbox_count
            )
            """
    }

    private var numbering: PostgresQuery {
        let rows = counters.counters.sorted { $0.key < $1.key }
        return """
            numbered AS (
                UPDATE streams SET seq = new.seq, record_count = new.records, inbox_count = new.waiting, byte_count = new.bytes
                FROM unnest(
                    \(rows.map(\.key)), \(rows.map(\.value.number)), \(rows.map(\.value.recordCount)),
                    \(rows.map(\.value.inboxCount)), \(rows.map(\.value.byteCount))
                ) AS new (id, seq, records, waiting, bytes)
                WHERE streams.id = new.id
            )
            """
    }

    /// Nothing is left of a record but its id, its owner and its grants.
    ///
    /// Who refers to it keeps a row that leads nowhere.
    private var removal: PostgresQuery {
        """
        gone AS (
            UPDATE records SET data = NULL, byte_count = 0, version = version + 1, expires_at = NULL,
                updated_at = now() AT TIME ZONE 'UTC', deleted_at = now() AT TIME ZONE 'UTC'
            WHERE key = ANY(\(gone))
        )
        """
    }

    private var granting: PostgresQuery {
        """
        granted AS (
            INSERT INTO grants AS old (collection_id, record_key, stream_id, rights, seq, shown_seq, ended_at)
            SELECT collection_id, key, stream, rights, nullif(number, 0), nullif(shown, 0),
                CASE WHEN number > 0 AND rights % 2 = 0 THEN now() AT TIME ZONE 'UTC' END
            FROM unnest(
                \(granted.collections), \(granted.keys), \(granted.streams), \(granted.rights), \(granted.numbers),
                \(granted.shownNumbers)
            ) AS new (collection_id, key, stream, rights, number, shown)
            ON CONFLICT (collection_id, record_key, stream_id) DO UPDATE SET rights = excluded.rights,
                seq = excluded.seq, shown_seq = excluded.shown_seq,
                ended_at = CASE WHEN old.seq = excluded.seq THEN old.ended_at ELSE excluded.ended_at END
        )
        """
    }

    /// Takes away what records that were there before have no more.
    private var cleaning: [PostgresQuery] {
        [
            """
            unindexed AS (
                DELETE FROM record_index WHERE record_key = ANY(\(existingKeys))
                    AND (stream_id, field, value, record_key) NOT IN (
                        SELECT * FROM unnest(\(indexed.streams), \(indexed.fields), \(indexed.values), \(indexed.keys))
                    )
            )
            """,
            """
            unreferred AS (
                DELETE FROM record_references WHERE record_key = ANY(\(existingKeys))
                    AND (record_key, field) NOT IN (SELECT * FROM unnest(\(linked.keys), \(linked.fields)))
            )
            """,
            """
            unpictured AS (
                DELETE FROM photo_references WHERE record_key = ANY(\(existingKeys))
                    AND (record_key, field) NOT IN (SELECT * FROM unnest(\(linked.keys), \(linked.fields)))
            )
            """,
        ]
    }

    private var linking: [PostgresQuery] {
        var parts: [PostgresQuery] = []
        if !indexed.keys.isEmpty {
            parts.append(
                """
                indexed AS (
                    INSERT INTO record_index (stream_id, collection_id, field, value, record_key)
                    SELECT * FROM unnest(
                        \(indexed.streams), \(indexed.collections), \(indexed.fields), \(indexed.values), \(indexed.keys)
                    )
                    ON CONFLICT DO NOTHING
                )
                """
            )
        }
        if !referred.keys.isEmpty {
            parts.append(
                """
                referred AS (
                    INSERT INTO record_references (record_key, field, target_key, owner_id)
                    SELECT * FROM unnest(\(referred.keys), \(referred.fields), \(referred.targets), \(referred.owners))
                    ON CONFLICT (record_key, field) DO UPDATE
                        SET target_key = excluded.target_key, owner_id = excluded.owner_id
                )
                """
            )
        }
        if !pictured.keys.isEmpty {
            parts.append(
                """
                pictured AS (
                    INSERT INTO photo_references (record_key, field, photo_id, photo_owner_id)
                    SELECT * FROM unnest(\(pictured.keys), \(pictured.fields), \(pictured.targets), \(pictured.owners))
                    ON CONFLICT (record_key, field) DO UPDATE
                        SET photo_id = excluded.photo_id, photo_owner_id = excluded.photo_owner_id
                )
                """
            )
        }
        return parts
    }
}
