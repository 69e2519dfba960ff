-- A photo is pending until its object is stored, then ready; photos that railsauth kept are ready. An object that is
-- to go is named in object_deletions, in the same transaction that removes its photo. Rows that could never be served
-- stop the migration with a list of them.
-- migrate:up
DO $$
DECLARE
    complaints text[] := '{}';
    ids text;
BEGIN
    SELECT string_agg(id::text, ', ' ORDER BY id) INTO ids
    FROM photos WHERE name IS NULL OR title IS NULL;
    IF ids IS NOT NULL THEN
        complaints := complaints || format(
            'Photos without a name or a title, by id: %s. Give them one; an empty string will do.', ids);
    END IF;

    SELECT string_agg(id::text, ', ' ORDER BY id) INTO ids
    FROM photos WHERE btrim(coalesce(random_id, '')) = '';
    IF ids IS NOT NULL THEN
        complaints := complaints || format(
            'Photos without a random_id, which names their object in the bucket, by id: %s. '
            'Fill it in from the bucket, or delete the rows.', ids);
    END IF;

    SELECT string_agg(id::text, ', ' ORDER BY id) INTO ids
    FROM photos WHERE random_id IN (SELECT random_id FROM photos GROUP BY random_id HAVING count(*) > 1);
    IF ids IS NOT NULL THEN
        complaints := complaints || format('Photos that share a random_id, by id: %s. Keep one of each.', ids);
    END IF;

    SELECT string_agg(id::text, ', ' ORDER BY id) INTO ids
    FROM photos WHERE NOT EXISTS (SELECT FROM users WHERE users.id = photos.user_id);
    IF ids IS NOT NULL THEN
        complaints := complaints || format(
            'Photos of a user who does not exist, by id: %s. Give them an owner, or delete the rows.', ids);
    END IF;

    IF complaints <> '{}' THEN
        RAISE EXCEPTION USING MESSAGE = array_to_string(
            complaints || 'Nothing was changed. Mend these rows of the table photos, then migrate again.'::text, E'\n');
    END IF;
END
$$;

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
