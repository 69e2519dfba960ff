-- A number of a stream and the start of PostgreSQL under which it was given name one change for good, as an index and a term do
-- in the log of Raft. Cursors carry both. So a table of starts alone is of no use any more. Cursors from before begin again.
-- migrate:up
-- At once, so that no writer holds a weaker lock when the stronger one is asked for.
LOCK TABLE streams IN ACCESS EXCLUSIVE MODE;

DROP TRIGGER streams_first_change ON streams;
DROP TABLE database_starts;
ALTER TABLE streams DROP COLUMN table_oid;

-- The numbers after `last_before`, up to that of the next row, were given under the start.
DELETE FROM stream_starts;
ALTER TABLE stream_starts
    DROP CONSTRAINT stream_starts_pkey,
    DROP COLUMN start_id,
    ADD COLUMN started_at timestamptz NOT NULL,
    ADD PRIMARY KEY (stream_id, last_before);

INSERT INTO stream_starts (stream_id, last_before, started_at)
SELECT id, 0, coalesce(started_at, to_timestamp(0)) FROM streams WHERE seq > 0;

CREATE OR REPLACE FUNCTION note_start() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- migrate:down
LOCK TABLE streams IN ACCESS EXCLUSIVE MODE;

DROP TRIGGER streams_first_change ON streams;
ALTER TABLE streams ADD COLUMN table_oid bigint;

CREATE TABLE database_starts (
    id integer PRIMARY KEY,
    started_at timestamptz NOT NULL,
    table_oid bigint NOT NULL,
    mark bigint NOT NULL UNIQUE,
    identity text NOT NULL,
    database_oid bigint NOT NULL,
    UNIQUE (started_at, table_oid, database_oid)
);

DELETE FROM stream_starts;
ALTER TABLE stream_starts DROP CONSTRAINT stream_starts_pkey, DROP COLUMN started_at;
ALTER TABLE stream_starts ADD COLUMN start_id integer NOT NULL;
CREATE UNIQUE INDEX stream_starts_pkey ON stream_starts (stream_id, start_id);
ALTER TABLE stream_starts ADD PRIMARY KEY USING INDEX stream_starts_pkey;

CREATE OR REPLACE FUNCTION note_start() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    present_id integer := coalesce(
        (
            SELECT id FROM database_starts
            WHERE started_at = pg_postmaster_start_time() AND table_oid = TG_RELID::bigint
                AND database_oid = (SELECT oid::bigint FROM pg_database WHERE datname = current_database())
        ),
        (SELECT max(id) FROM database_starts) + 1, 1);
    oldest_id integer;
BEGIN
    NEW.started_at := pg_postmaster_start_time();
    NEW.table_oid := TG_RELID::bigint;
    INSERT INTO stream_starts (stream_id, start_id, last_before) VALUES (NEW.id, present_id, OLD.seq)
    ON CONFLICT DO NOTHING;
    SELECT start_id INTO oldest_id FROM stream_starts WHERE stream_id = NEW.id ORDER BY start_id DESC OFFSET 15 LIMIT 1;
    IF FOUND THEN
        DELETE FROM stream_starts WHERE stream_id = NEW.id AND start_id < oldest_id;
        UPDATE stream_starts SET last_before = 0 WHERE stream_id = NEW.id AND start_id = oldest_id;
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER streams_first_change BEFORE UPDATE OF seq ON streams FOR EACH ROW
    WHEN (NEW.seq > OLD.seq AND (
        OLD.started_at IS DISTINCT FROM pg_postmaster_start_time()
        OR OLD.table_oid IS DISTINCT FROM 'streams'::regclass::oid::bigint
    ))
    EXECUTE FUNCTION note_start();
