-- A photo that is not listed belongs to records, or is a member's picture. It goes with the last that refers to it.
-- migrate:up
ALTER TABLE photos DROP CONSTRAINT photos_state_check;
ALTER TABLE photos ADD CONSTRAINT photos_state_check CHECK (state IN ('pending', 'ready', 'unlisted'));

-- Photos to look at: whether something still refers to them.
CREATE TABLE photo_releases (
    photo_id integer PRIMARY KEY,
    due_at timestamp NOT NULL
);

CREATE INDEX photo_releases_due_at_index ON photo_releases (due_at);
CREATE INDEX users_picture_id_index ON users (picture_id) WHERE picture_id IS NOT NULL;

CREATE FUNCTION release_photos() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO photo_releases (photo_id, due_at)
    SELECT id, now() AT TIME ZONE 'UTC' FROM photos
    WHERE id IN (SELECT photo_id FROM dropped) AND state = 'unlisted' ORDER BY id
    ON CONFLICT (photo_id) DO UPDATE SET due_at = excluded.due_at;
    IF TG_OP = 'DELETE' THEN
        INSERT INTO photo_losses (record_key, photo_owner_id)
        SELECT record_key,
            CASE WHEN count(photo_owner_id) = count(*) AND min(photo_owner_id) = max(photo_owner_id)
                THEN min(photo_owner_id) END
        FROM dropped WHERE NOT EXISTS (SELECT FROM photos WHERE photos.id = photo_id)
        GROUP BY record_key ORDER BY record_key
        ON CONFLICT (record_key) DO UPDATE SET photo_owner_id =
            CASE WHEN photo_losses.photo_owner_id = excluded.photo_owner_id THEN excluded.photo_owner_id END;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER photo_references_changed AFTER UPDATE ON photo_references REFERENCING OLD TABLE AS dropped
    FOR EACH STATEMENT EXECUTE FUNCTION release_photos();
CREATE TRIGGER photo_references_removed AFTER DELETE ON photo_references REFERENCING OLD TABLE AS dropped
    FOR EACH STATEMENT EXECUTE FUNCTION release_photos();

CREATE FUNCTION release_picture() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO photo_releases (photo_id, due_at)
    SELECT id, now() AT TIME ZONE 'UTC' FROM photos WHERE id = OLD.picture_id AND state = 'unlisted'
    ON CONFLICT (photo_id) DO UPDATE SET due_at = excluded.due_at;
    RETURN NULL;
END
$$;

CREATE TRIGGER users_picture_changed AFTER UPDATE OF picture_id ON users FOR EACH ROW
    WHEN (OLD.picture_id IS NOT NULL AND OLD.picture_id IS DISTINCT FROM NEW.picture_id)
    EXECUTE FUNCTION release_picture();

-- migrate:down
DROP TRIGGER users_picture_changed ON users;
DROP FUNCTION release_picture();
DROP TRIGGER photo_references_removed ON photo_references;
DROP TRIGGER photo_references_changed ON photo_references;
DROP FUNCTION release_photos();
DROP INDEX users_picture_id_index;
DROP TABLE photo_releases;

-- As listed photos they would be where they never were.
INSERT INTO object_deletions (random_id, object_version) SELECT random_id, object_version FROM photos
WHERE state = 'unlisted' ON CONFLICT (random_id) DO NOTHING;
DELETE FROM photos WHERE state = 'unlisted';

ALTER TABLE photos DROP CONSTRAINT photos_state_check;
ALTER TABLE photos ADD CONSTRAINT photos_state_check CHECK (state IN ('pending', 'ready'));
