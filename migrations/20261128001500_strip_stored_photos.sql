-- The metadata of photos that were stored with it can be removed later. Such a photo gets a new object under another key.
-- migrate:up
-- The key of the photo's object; NULL while it is the photo's random_id.
ALTER TABLE photos ADD COLUMN object_key text;
ALTER TABLE photos ADD COLUMN is_stripped boolean NOT NULL DEFAULT false;
CREATE UNIQUE INDEX photos_object_key_index ON photos (object_key) WHERE object_key IS NOT NULL;

-- Each object that belongs in the store. An object without an index of its own would make comparisons slow.
CREATE VIEW photo_objects AS
SELECT random_id::text AS key, id AS photo_id, random_id::text AS random_id, state = 'pending' AS is_pending,
    content_type::text AS content_type, byte_count, created_at
FROM photos WHERE object_key IS NULL
UNION ALL
SELECT object_key, id, random_id::text, state = 'pending', content_type::text, byte_count, created_at
FROM photos WHERE object_key IS NOT NULL;

-- migrate:down
DO $$
BEGIN
    IF EXISTS (SELECT FROM photos WHERE object_key IS NOT NULL) THEN
        RAISE EXCEPTION 'photos were stripped, and earlier versions do not find their objects';
    END IF;
END
$$;

DROP VIEW photo_objects;
DROP INDEX photos_object_key_index;
ALTER TABLE photos DROP COLUMN is_stripped;
ALTER TABLE photos DROP COLUMN object_key;
