-- Small pictures of photos. They are stored beside the photos, and go with them.
-- migrate:up
CREATE TABLE renditions (
    photo_id integer NOT NULL REFERENCES photos ON DELETE CASCADE,
    size text NOT NULL CHECK (size IN ('small', 'medium')),
    object_key text NOT NULL,
    -- original: the photo is not larger than this size.
    state text NOT NULL CHECK (state IN ('pending', 'ready', 'original', 'failed')),
    -- Pending: when another process may take over. Failed: when to try again; NULL for never.
    due_at timestamp,
    attempts integer NOT NULL DEFAULT 1,
    -- Why the last attempt failed.
    reason text,
    content_type text,
    byte_count bigint,
    digest text,
    PRIMARY KEY (photo_id, size)
);

CREATE UNIQUE INDEX renditions_object_key_index ON renditions (object_key);
CREATE INDEX renditions_failed_index ON renditions (reason) WHERE state = 'failed';

-- A row goes only with its photo. So its object's key is never used again. A put that is under way may end later.
CREATE FUNCTION delete_renditions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO object_deletions (random_id, due_at)
    SELECT object_key, now() AT TIME ZONE 'UTC' + CASE WHEN state = 'pending' THEN interval '60 s' ELSE interval '0' END
    FROM removed WHERE state <> 'original' ORDER BY object_key
    ON CONFLICT (random_id) DO UPDATE SET due_at = excluded.due_at, attempts = 0;
    RETURN NULL;
END
$$;

CREATE TRIGGER renditions_removed AFTER DELETE ON renditions REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION delete_renditions();

-- Each object that belongs in the store. Each part has an index on its key.
CREATE VIEW photo_objects AS
SELECT random_id::text AS key, id AS photo_id, random_id::text AS random_id, state = 'pending' AS is_pending,
    content_type::text AS content_type, byte_count, created_at, NULL::text AS size
FROM photos WHERE object_key IS NULL
UNION ALL
SELECT object_key, id, random_id::text, state = 'pending', content_type::text, byte_count, created_at, NULL::text
FROM photos WHERE object_key IS NOT NULL
UNION ALL
SELECT renditions.object_key, photo_id, random_id::text, renditions.state <> 'ready', renditions.content_type,
    renditions.byte_count, created_at, size
FROM renditions JOIN photos ON photos.id = photo_id WHERE renditions.state <> 'original';

-- migrate:down
DROP VIEW photo_objects;

-- The trigger records the deletion of their objects.
DELETE FROM renditions;
DROP TABLE renditions;
DROP FUNCTION delete_renditions();
