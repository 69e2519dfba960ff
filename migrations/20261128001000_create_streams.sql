-- A stream is what somebody can see change: one for each user, role and collection. A grant is a stream's right to a
-- record, and the number of the record's last change in the stream. A number and the start of PostgreSQL under which it was
-- given identify one change, as an index and a term do in Raft's log. Cursors carry both.
-- migrate:up
CREATE TABLE roles (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    -- A role that is disabled gives nothing.
    disabled_at timestamp
);

CREATE TABLE role_members (
    role_id integer NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    added_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    PRIMARY KEY (user_id, role_id)
);

CREATE INDEX role_members_role_id_index ON role_members (role_id, user_id);

CREATE TABLE collections (
    -- 0 stands for photos, which have no row.
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE streams (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Without a foreign key: a row that a transaction changes twice would be checked against its user.
    user_id integer UNIQUE,
    role_id integer UNIQUE REFERENCES roles (id) ON DELETE CASCADE,
    collection_id integer UNIQUE REFERENCES collections (id) ON DELETE CASCADE,
    -- The number of the last change. Who takes the next one locks this row until the end of the transaction.
    seq bigint NOT NULL DEFAULT 0,
    -- The number up to which changes that are long past were forgotten.
    forgotten_seq bigint NOT NULL DEFAULT 0,
    -- The start of PostgreSQL under which it was last changed.
    started_at timestamptz,
    -- What a user owns, what waits in the user's inboxes, and the bytes of data that count for the user.
    record_count bigint NOT NULL DEFAULT 0,
    inbox_count bigint NOT NULL DEFAULT 0,
    byte_count bigint NOT NULL DEFAULT 0,
    CHECK (num_nonnulls(user_id, role_id, collection_id) = 1)
) WITH (fillfactor = 50);

-- The numbers after `last_before`, up to that of the next row, were given under the start.
CREATE TABLE stream_starts (
    stream_id bigint NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    last_before bigint NOT NULL,
    started_at timestamptz NOT NULL,
    PRIMARY KEY (stream_id, last_before)
);

CREATE FUNCTION note_start() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.started_at := pg_postmaster_start_time();
    INSERT INTO stream_starts (stream_id, last_before, started_at) VALUES (NEW.id, OLD.seq, NEW.started_at)
    ON CONFLICT (stream_id, last_before) DO UPDATE SET started_at = excluded.started_at;
    -- Sixteen are kept. Cursors whose numbers are older begin again.
    DELETE FROM stream_starts WHERE stream_id = NEW.id AND last_before < (
        SELECT last_before FROM stream_starts WHERE stream_id = NEW.id ORDER BY last_before DESC OFFSET 15 LIMIT 1
    );
    RETURN NEW;
END
$$;

CREATE TRIGGER streams_first_change BEFORE UPDATE OF seq ON streams FOR EACH ROW
    WHEN (NEW.seq > OLD.seq AND OLD.started_at IS DISTINCT FROM pg_postmaster_start_time())
    EXECUTE FUNCTION note_start();

-- How many records of somebody else a user's stream shows, and how many of them wait in the user's inboxes.
CREATE TABLE stream_authors (
    stream_id bigint NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    author_id integer NOT NULL,
    record_count bigint NOT NULL,
    inbox_count bigint NOT NULL,
    PRIMARY KEY (stream_id, author_id)
);

CREATE INDEX stream_authors_unused_index ON stream_authors (stream_id) WHERE record_count <= 0;

CREATE FUNCTION create_stream() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO streams (user_id) VALUES (NEW.id);
    RETURN NULL;
END
$$;

CREATE FUNCTION delete_stream() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM streams WHERE user_id = OLD.id;
    RETURN NULL;
END
$$;

-- Whoever signs up between the first insert and the trigger would have no stream.
LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO streams (user_id) SELECT id FROM users ORDER BY id;
CREATE TRIGGER users_added AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION create_stream();
CREATE TRIGGER users_removed AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION delete_stream();

CREATE TABLE grants (
    stream_id bigint NOT NULL,
    collection_id integer NOT NULL,
    -- The record's key; for photos, the photo's id.
    record_key bigint NOT NULL,
    -- The sum of 1 to read, 2 to write, 4 to delete and 8 to share.
    rights smallint NOT NULL,
    -- The number of the last change in the stream. NULL for what the stream never showed.
    seq bigint,
    -- The number of the change since which the stream shows it.
    shown_seq bigint,
    -- When the right to read ended. Such a grant is kept for a while, for those who have not heard of it.
    ended_at timestamp,
    -- A photo's id for clients, which is needed when the photo is gone.
    random_id text,
    PRIMARY KEY (collection_id, record_key, stream_id)
) WITH (fillfactor = 80);

-- Lists walk along it.
CREATE UNIQUE INDEX grants_list_key ON grants (stream_id, collection_id, record_key) WHERE rights % 2 = 1;
-- The feed walks along it.
CREATE UNIQUE INDEX grants_seq_key ON grants (stream_id, seq);
-- Those without any right are forgotten after a while.
CREATE INDEX grants_forgettable_index ON grants (ended_at) WHERE rights = 0;

-- migrate:down
DROP TRIGGER users_removed ON users;
DROP TRIGGER users_added ON users;
DROP FUNCTION delete_stream();
DROP FUNCTION create_stream();
DROP TABLE grants;
DROP TABLE stream_authors;
DROP TABLE stream_starts;
DROP TABLE streams;
DROP FUNCTION note_start();
DROP TABLE collections;
DROP TABLE role_members;
DROP TABLE roles;
