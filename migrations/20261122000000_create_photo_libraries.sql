-- What a user's photos come to: their version, number and bytes. A list that has not changed and a quota that is not
-- reached are one look-up, however many photos there are. Triggers keep the figures, so that no statement, and no older
-- process beside a newer one, can forget them. Only ready photos count.
-- migrate:up
-- What others show or remove between the first count and the triggers would never be counted.
LOCK TABLE photos IN SHARE ROW EXCLUSIVE MODE;

CREATE TABLE photo_libraries (
    user_id integer PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    -- Grows with each change. It is never below the time, so that no version comes twice after a backup was restored.
    version bigint NOT NULL DEFAULT 0,
    photo_count bigint NOT NULL DEFAULT 0,
    byte_count bigint NOT NULL DEFAULT 0,
    -- Part of the signature of photos' URLs: another number ends all that were handed out.
    url_series bigint NOT NULL DEFAULT 0,
    -- What an administrator has set; NULL for the service's setting.
    max_photo_count bigint CHECK (max_photo_count >= 0),
    max_byte_count bigint CHECK (max_byte_count >= 0)
) WITH (fillfactor = 50);

CREATE FUNCTION next_version(bigint) RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT greatest($1 + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)';

INSERT INTO photo_libraries (user_id, version, photo_count, byte_count)
SELECT user_id, next_version(0), count(*), coalesce(sum(byte_count), 0) FROM photos WHERE state = 'ready' GROUP BY user_id;

CREATE FUNCTION change_photo_library(integer, bigint, bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO photo_libraries AS library (user_id, version, photo_count, byte_count)
    VALUES ($1, next_version(0), $2, $3)
    ON CONFLICT (user_id) DO UPDATE SET
        version = next_version(library.version),
        photo_count = library.photo_count + excluded.photo_count,
        byte_count = library.byte_count + excluded.byte_count
$$;

-- Libraries are changed in the order of their users, so that two statements never wait for each other.
CREATE FUNCTION count_photos() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        FOR change IN
            SELECT user_id, count(*) AS photos, coalesce(sum(byte_count), 0)::bigint AS bytes
            FROM added WHERE state = 'ready' GROUP BY user_id ORDER BY user_id
        LOOP
            PERFORM change_photo_library(change.user_id, change.photos, change.bytes);
        END LOOP;
    ELSIF TG_OP = 'DELETE' THEN
        FOR change IN
            SELECT user_id, -count(*) AS photos, -coalesce(sum(byte_count), 0)::bigint AS bytes
            FROM removed WHERE state = 'ready' GROUP BY user_id ORDER BY user_id
        LOOP
            PERFORM change_photo_library(change.user_id, change.photos, change.bytes);
        END LOOP;
    ELSE
        FOR change IN
            SELECT user_id, sum(sign)::bigint AS photos, coalesce(sum(sign * byte_count), 0)::bigint AS bytes
            FROM (
                SELECT user_id, byte_count, 1 AS sign FROM added WHERE state = 'ready'
                UNION ALL SELECT user_id, byte_count, -1 FROM removed WHERE state = 'ready'
            ) AS both_states GROUP BY user_id ORDER BY user_id
        LOOP
            PERFORM change_photo_library(change.user_id, change.photos, change.bytes);
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER photos_added AFTER INSERT ON photos REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_photos();
CREATE TRIGGER photos_changed AFTER UPDATE ON photos REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_photos();
CREATE TRIGGER photos_removed AFTER DELETE ON photos REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION count_photos();

-- migrate:down
DROP TRIGGER photos_removed ON photos;
DROP TRIGGER photos_changed ON photos;
DROP TRIGGER photos_added ON photos;
DROP FUNCTION count_photos();
DROP FUNCTION change_photo_library(integer, bigint, bigint);
DROP TABLE photo_libraries;
DROP FUNCTION next_version(bigint);
