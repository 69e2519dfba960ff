-- What others see of a user, and whom a user blocks. Members are named by an id that tells nothing. The directory walks
-- along three indexes. Their collation is "C", so that what begins with a text is one range.
-- migrate:up
ALTER TABLE users
    ADD COLUMN member_id text COLLATE "C" NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', ''),
    ADD COLUMN title text NOT NULL DEFAULT '',
    -- A photo of the user's own. It refers to nothing, since photos are locked after users: a photo that is gone is no
    -- picture.
    ADD COLUMN picture_id integer,
    ADD COLUMN shows_email boolean NOT NULL DEFAULT false,
    ADD COLUMN profile json NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX users_member_id_key ON users (member_id);
CREATE INDEX users_full_name_index ON users ((lower(first_name || ' ' || last_name) COLLATE "C"), id)
    WHERE disabled_at IS NULL;
CREATE INDEX users_last_name_index ON users ((lower(last_name) COLLATE "C"), id) WHERE disabled_at IS NULL;
CREATE INDEX users_title_index ON users ((lower(title) COLLATE "C"), id) WHERE disabled_at IS NULL AND title <> '';

CREATE TABLE blocks (
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    blocked_user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, blocked_user_id),
    CHECK (user_id <> blocked_user_id)
);

CREATE INDEX blocks_blocked_user_id_index ON blocks (blocked_user_id, user_id);

-- migrate:down
DROP TABLE blocks;
DROP INDEX users_title_index;
DROP INDEX users_last_name_index;
DROP INDEX users_full_name_index;

ALTER TABLE users
    DROP COLUMN profile,
    DROP COLUMN shows_email,
    DROP COLUMN picture_id,
    DROP COLUMN title,
    DROP COLUMN member_id;
