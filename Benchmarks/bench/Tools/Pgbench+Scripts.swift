extension Pgbench.Load {
    /// The script for pgbench.
    ///
    /// Digests are computed in SQL, because pgbench's variables are text.
    var script: String {
        switch self {
        case .list: Self.listScript
        case .recordCreation: Self.recordCreationScript
        }
    }

    private static let listScript = """
        \\set n random(1, \(BenchData.userCount))
        SELECT sessions.id AS session_id, expires_at, name, title, random_id
        FROM sessions LEFT JOIN photos ON photos.user_id = sessions.user_id AND state = 'ready'
        WHERE token_digest = sha256(convert_to('token-' || :n, 'UTF8')) ORDER BY photos.id;

        """

    /// The service's own statements, in their order.
    ///
    /// They read the session, lock the schema, read the author and the readers, lock the streams, and write all rows.
    /// Some things differ, because pgbench keeps no arrays. Members' ids are computed, and the record's key serves as
    /// each stream's number. Keys are taken before the locks, so that a smaller one may come later. A colon is
    /// `chr(58)`, because pgbench takes `:MI` for a variable.
    private static let recordCreationScript = """
        \\set n random(1, \(BenchData.userCount))
        \\set first (:n + random(0, \(BenchData.userCount / 2 - 2))) % \(BenchData.userCount) + 1
        \\set second (:n + random(\(BenchData.userCount / 2 - 1), \(BenchData.userCount - 2))) % \(BenchData.userCount) + 1
        SELECT found.*
        FROM unnest(ARRAY[sha256(convert_to('token-' || :n, 'UTF8'))]) WITH ORDINALITY AS asked (key, position)
        CROSS JOIN LATERAL (
            SELECT id, user_id, expires_at, max_unused_days FROM sessions WHERE token_digest = asked.key
        ) AS found;
        BEGIN;
        LOCK TABLE records IN ROW EXCLUSIVE MODE;
        SELECT (SELECT max(version) FROM schema_definitions) AS schema_version, users.id::bigint AS user_id, member_id,
            (SELECT id FROM streams WHERE user_id = users.id) AS stream_id,
            EXISTS (SELECT FROM blocks WHERE user_id = users.id AND blocked_user_id = :n) AS is_blocking,
            ARRAY(
                SELECT role_id::bigint FROM role_members JOIN roles ON roles.id = role_id
                WHERE user_id = :n AND disabled_at IS NULL
            ) AS role_ids,
            to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24' || chr(58) || 'MI' || chr(58) || 'SS.MS"Z"') AS now,
            set_config('plan_cache_mode', 'force_generic_plan', true)
        FROM users
        WHERE member_id = ANY((
            SELECT ARRAY['member' || lpad(:first, 20, '0'), 'member' || lpad(:second, 20, '0')] || member_id
            FROM users WHERE id = :n
        )::text[]) AND disabled_at IS NULL
        ORDER BY users.id FOR KEY SHARE OF users;
        SELECT id, seq, record_count, inbox_count, (SELECT nextval('records_key_seq')) AS key
        FROM streams WHERE id = ANY(ARRAY[:n, :first, :second]::bigint[]) ORDER BY id FOR NO KEY UPDATE \\aset
        WITH numbered AS (
            UPDATE streams SET seq = greatest(streams.seq, new.seq), record_count = new.records, inbox_count = new.waiting
            FROM unnest(
                ARRAY[:n, :first, :second]::bigint[], ARRAY[:key, :key, :key]::bigint[],
                ARRAY[:record_count, :record_count, :record_count]::bigint[],
                ARRAY[:inbox_count, :inbox_count, :inbox_count]::bigint[]
            ) AS new (id, seq, records, waiting)
            WHERE streams.id = new.id
        ), added AS (
            INSERT INTO records (key, collection_id, recipient_id, id, owner_id, data, byte_count, expires_at)
            OVERRIDING SYSTEM VALUE
            SELECT key, (SELECT id FROM collections WHERE name = 'messages'), 0, id, :n::integer, data::json,
                octet_length(data), CASE WHEN expiry > 0 THEN timestamp 'epoch' + expiry * interval '1 millisecond' END
            FROM unnest(
                ARRAY[:key]::bigint[], ARRAY['by-pgbench-' || :key], ARRAY['\(BenchRecords.message(topic: "topic-0"))'],
                ARRAY[0]
            ) AS new (key, id, data, expiry)
            ORDER BY new.id
        ), granted AS (
            INSERT INTO grants AS old (collection_id, record_key, stream_id, rights, seq, shown_seq, ended_at)
            SELECT (SELECT id FROM collections WHERE name = 'messages'), key, stream, rights, nullif(number, 0),
                nullif(shown, 0), CASE WHEN number > 0 AND rights % 2 = 0 THEN now() AT TIME ZONE 'UTC' END
            FROM unnest(
                ARRAY[:key, :key, :key]::bigint[], ARRAY[:n, :first, :second]::bigint[], ARRAY[15, 1, 1],
                ARRAY[:key, :key, :key]::bigint[], ARRAY[:key, :key, :key]::bigint[]
            ) AS new (key, stream, rights, number, shown)
            ON CONFLICT (collection_id, record_key, stream_id) DO UPDATE SET rights = excluded.rights,
                seq = excluded.seq, shown_seq = excluded.shown_seq,
                ended_at = CASE WHEN old.seq = excluded.seq THEN old.ended_at ELSE excluded.ended_at END
        ), indexed AS (
            INSERT INTO record_index (stream_id, collection_id, field, value, record_key)
            SELECT stream, (SELECT id FROM collections WHERE name = 'messages'), 'topic', '"topic-0"', :key::bigint
            FROM unnest(ARRAY[:n, :first, :second]::bigint[]) AS streams (stream)
            ON CONFLICT DO NOTHING
        )
        SELECT;
        COMMIT;

        """
}
