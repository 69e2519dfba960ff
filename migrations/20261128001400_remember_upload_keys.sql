-- A client may send a key with an upload. The same upload, sent again with the same key, makes no second photo. The key
-- lives as long as its photo, and a day longer.
-- migrate:up
-- SHA-256 of the key, and of what was sent with it.
ALTER TABLE photos ADD COLUMN upload_key bytea;
ALTER TABLE photos ADD COLUMN upload_digest bytea;
CREATE UNIQUE INDEX photos_upload_key_index ON photos (user_id, upload_key) WHERE upload_key IS NOT NULL;

CREATE TABLE deleted_upload_keys (
    user_id integer NOT NULL,
    upload_key bytea NOT NULL,
    deleted_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    PRIMARY KEY (user_id, upload_key)
);

CREATE INDEX deleted_upload_keys_deleted_at_index ON deleted_upload_keys (deleted_at);

-- The key of a failed upload may be used again at once.
CREATE FUNCTION keep_upload_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deleted_upload_keys (user_id, upload_key)
    SELECT user_id, upload_key FROM removed WHERE upload_key IS NOT NULL AND state <> 'pending'
    ORDER BY user_id, upload_key
    ON CONFLICT (user_id, upload_key) DO UPDATE SET deleted_at = excluded.deleted_at;
    RETURN NULL;
END
$$;

CREATE TRIGGER photos_with_keys_removed AFTER DELETE ON photos REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION keep_upload_keys();

-- migrate:down
DROP TRIGGER photos_with_keys_removed ON photos;
DROP FUNCTION keep_upload_keys();
DROP TABLE deleted_upload_keys;
DROP INDEX photos_upload_key_index;
ALTER TABLE photos DROP COLUMN upload_digest;
ALTER TABLE photos DROP COLUMN upload_key;
