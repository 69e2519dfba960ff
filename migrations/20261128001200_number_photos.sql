-- Each change of a user's photos takes a number of the user's stream. A photo is a grant of the collection 0. The version
-- of a user's photos is the number of their last change.
-- migrate:up
-- What others show or remove meanwhile would have no number.
LOCK TABLE photos IN SHARE ROW EXCLUSIVE MODE;

-- When the version was last changed, in microseconds since 1970. It is never below the time, so that no version comes
-- twice after a backup was restored.
ALTER TABLE photo_libraries ADD COLUMN changed_at bigint NOT NULL DEFAULT 0;

INSERT INTO grants (stream_id, collection_id, record_key, rights, seq, shown_seq, random_id)
SELECT stream_id, 0, photo_id, 1, number, number, random_id FROM (
    SELECT streams.id AS stream_id, photos.id AS photo_id, random_id,
        seq + row_number() OVER (PARTITION BY user_id ORDER BY photos.id) AS number
    FROM photos JOIN streams USING (user_id) WHERE state = 'ready'
) AS numbered;

UPDATE streams SET seq = seq + listed.count
FROM (SELECT user_id, count(*) FROM photos WHERE state = 'ready' GROUP BY user_id) AS listed
WHERE streams.user_id = listed.user_id;

UPDATE photo_libraries SET changed_at = version, version = coalesce(
    (SELECT max(grants.seq) FROM streams JOIN grants ON stream_id = streams.id
        WHERE streams.user_id = photo_libraries.user_id AND grants.collection_id = 0), 0
);

-- Their functions stay, since the way back needs them.
DROP TRIGGER photos_removed ON photos;
DROP TRIGGER photos_changed ON photos;
DROP TRIGGER photos_added ON photos;

-- Counts a user's photos, and numbers those whose list changed. The library is locked before the stream, as everywhere.
CREATE FUNCTION change_photo_library(integer, bigint, bigint, bigint[], text[], boolean[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    changes bigint := coalesce(cardinality($4), 0);
    stream bigint;
    number bigint;
BEGIN
    INSERT INTO photo_libraries (user_id) VALUES ($1) ON CONFLICT DO NOTHING;
    PERFORM FROM photo_libraries WHERE user_id = $1 FOR NO KEY UPDATE;
    IF changes > 0 THEN
        UPDATE streams SET seq = seq + changes WHERE user_id = $1 RETURNING id, seq INTO stream, number;
    END IF;
    -- Only once: a row that is changed twice is checked against its user, who may be locked by the deletion of the account.
    UPDATE photo_libraries SET
        version = coalesce(number, version),
        changed_at = CASE WHEN changes > 0 THEN next_version(greatest(changed_at, version)) ELSE changed_at END,
        photo_count = photo_count + $2,
        byte_count = byte_count + $3
    WHERE user_id = $1;
    IF stream IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO grants AS old (stream_id, collection_id, record_key, rights, seq, shown_seq, ended_at, random_id)
    SELECT stream, 0, id, CASE WHEN is_shown THEN 1 ELSE 0 END, number - changes + position,
        CASE WHEN is_shown THEN number - changes + position END,
        CASE WHEN NOT is_shown THEN now() AT TIME ZONE 'UTC' END, random_id
    FROM unnest($4, $5, $6) WITH ORDINALITY AS changed (id, random_id, is_shown, position)
    ON CONFLICT (collection_id, record_key, stream_id) DO UPDATE SET rights = excluded.rights, seq = excluded.seq,
        shown_seq = CASE WHEN old.rights = 1 AND excluded.rights = 1 THEN old.shown_seq ELSE excluded.shown_seq END,
        ended_at = excluded.ended_at;
END
$$;

-- Libraries are changed in the order of their users, so that two statements never wait for each other.
CREATE FUNCTION number_photos() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        FOR change IN
            SELECT user_id, count(*) AS photos, coalesce(sum(byte_count), 0)::bigint AS bytes,
                array_agg(id::bigint ORDER BY id) FILTER (WHERE state = 'ready') AS ids,
                array_agg(random_id::text ORDER BY id) FILTER (WHERE state = 'ready') AS random_ids,
                array_agg(true) FILTER (WHERE state = 'ready') AS shown
            FROM added WHERE state <> 'pending' GROUP BY user_id ORDER BY user_id
        LOOP
            PERFORM change_photo_library(
                change.user_id, change.photos, change.bytes, change.ids, change.random_ids, change.shown);
        END LOOP;
    ELSIF TG_OP = 'DELETE' THEN
        FOR change IN
            SELECT user_id, -count(*) AS photos, -coalesce(sum(byte_count), 0)::bigint AS bytes,
                array_agg(id::bigint ORDER BY id) FILTER (WHERE state = 'ready') AS ids,
                array_agg(random_id::text ORDER BY id) FILTER (WHERE state = 'ready') AS random_ids,
                array_agg(false) FILTER (WHERE state = 'ready') AS shown
            FROM removed WHERE state <> 'pending' GROUP BY user_id ORDER BY user_id
        LOOP
            PERFORM change_photo_library(
                change.user_id, change.photos, change.bytes, change.ids, change.random_ids, change.shown);
        END LOOP;
    ELSE
        FOR change IN
            SELECT user_id, sum(sign)::bigint AS photos, coalesce(sum(sign * byte_count), 0)::bigint AS bytes,
                array_agg(id::bigint ORDER BY id) FILTER (WHERE is_changed) AS ids,
                array_agg(random_id::text ORDER BY id) FILTER (WHERE is_changed) AS random_ids,
                array_agg(is_shown ORDER BY id) FILTER (WHERE is_changed) AS shown
            FROM (
                SELECT added.id, added.random_id, added.user_id, added.byte_count,
                    CASE WHEN added.state = 'pending' THEN 0 ELSE 1 END AS sign,
                    added.state = 'ready' OR removed.state = 'ready' AS is_changed, added.state = 'ready' AS is_shown
                FROM added JOIN removed USING (id) WHERE added.state <> 'pending' OR removed.state <> 'pending'
                UNION ALL
                SELECT removed.id, removed.random_id, removed.user_id, removed.byte_count, -1, false, false
                FROM removed WHERE removed.state <> 'pending'
            ) AS both_states GROUP BY user_id ORDER BY user_id
        LOOP
            PERFORM change_photo_library(
                change.user_id, change.photos, change.bytes, change.ids, change.random_ids, change.shown);
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER photos_added AFTER INSERT ON photos REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION number_photos();
CREATE TRIGGER photos_changed AFTER UPDATE ON photos REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION number_photos();
CREATE TRIGGER photos_removed AFTER DELETE ON photos REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION number_photos();

-- migrate:down
DROP TRIGGER photos_removed ON photos;
DROP TRIGGER photos_changed ON photos;
DROP TRIGGER photos_added ON photos;
DROP FUNCTION number_photos();
DROP FUNCTION change_photo_library(integer, bigint, bigint, bigint[], text[], boolean[]);

UPDATE photo_libraries SET version = next_version(greatest(version, changed_at));
DELETE FROM grants WHERE collection_id = 0;
ALTER TABLE photo_libraries DROP COLUMN changed_at;

CREATE TRIGGER photos_added AFTER INSERT ON photos REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_photos();
CREATE TRIGGER photos_changed AFTER UPDATE ON photos REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_photos();
CREATE TRIGGER photos_removed AFTER DELETE ON photos REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION count_photos();
