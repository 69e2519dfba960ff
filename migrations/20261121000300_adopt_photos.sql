-- A photo is pending until its object is stored, then ready; photos that railsauth kept are ready. An object that is
-- to go is named in object_deletions, in the same transaction that removes its photo.
-- migrate:up
ALTER TABLE photos
    ALTER COLUMN name SET NOT NULL,
    ALTER COLUMN title SET NOT NULL,
    ALTER COLUMN random_id SET NOT NULL,
    ALTER COLUMN user_id SET NOT NULL,
    ALTER COLUMN created_at SET DEFAULT (now() AT TIME ZONE 'UTC'),
    ALTER COLUMN updated_at SET DEFAULT (now() AT TIME ZONE 'UTC'),
    ADD COLUMN content_type text,
    ADD COLUMN byte_count bigint,
    ADD COLUMN state text NOT NULL DEFAULT 'ready' CHECK (state IN ('pending', 'ready')),
    ADD CONSTRAINT photos_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id);

ALTER TABLE photos ALTER COLUMN state DROP DEFAULT;

CREATE UNIQUE INDEX photos_random_id_key ON photos (random_id);
CREATE INDEX photos_ready_index ON photos (user_id, id) WHERE state = 'ready';
CREATE INDEX photos_pending_index ON photos (created_at) WHERE state = 'pending';

CREATE TABLE object_deletions (
    random_id varchar(255) PRIMARY KEY,
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')
);

CREATE INDEX object_deletions_due_at_index ON object_deletions (due_at);

-- migrate:down
-- railsauth knows no pending photos.
DELETE FROM photos WHERE state = 'pending';

DROP TABLE object_deletions;
DROP INDEX photos_pending_index;
DROP INDEX photos_ready_index;
DROP INDEX photos_random_id_key;

ALTER TABLE photos
    DROP CONSTRAINT photos_user_id_fkey,
    DROP COLUMN state,
    DROP COLUMN byte_count,
    DROP COLUMN content_type,
    ALTER COLUMN name DROP NOT NULL,
    ALTER COLUMN title DROP NOT NULL,
    ALTER COLUMN random_id DROP NOT NULL,
    ALTER COLUMN user_id DROP NOT NULL,
    ALTER COLUMN created_at DROP DEFAULT,
    ALTER COLUMN updated_at DROP DEFAULT;
