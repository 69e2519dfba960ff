-- The metadata of photos that were stored with it can be removed later. Such a photo gets a new object under another key.
-- migrate:up
-- The key of the photo's object; NULL while it is the photo's random_id.
ALTER TABLE photos ADD COLUMN object_key text;
ALTER TABLE photos ADD COLUMN is_stripped boolean NOT NULL DEFAULT false;
CREATE UNIQUE INDEX photos_object_key_index ON photos (object_key) WHERE object_key IS NOT NULL;

-- migrate:down
DO $$
BEGIN
    IF EXISTS (SELECT FROM photos WHERE object_key IS NOT NULL) THEN
        RAISE EXCEPTION 'photos were stripped, and earlier versions do not find their objects';
    END IF;
END
$$;

DROP INDEX photos_object_key_index;
ALTER TABLE photos DROP COLUMN is_stripped;
ALTER TABLE photos DROP COLUMN object_key;
