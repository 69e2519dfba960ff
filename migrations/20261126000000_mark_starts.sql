-- Cursors of clients carry the mark of the start of PostgreSQL that they were given out under. An older state of a database
-- can't be brought back without a start, or a new table of streams. So a cursor from changes that were lost is found out.
-- migrate:up
CREATE TABLE database_starts (
    -- Grows with each start.
    id integer PRIMARY KEY,
    started_at timestamptz NOT NULL,
    -- The table of streams: a dump that is restored makes another one.
    table_oid bigint NOT NULL,
    mark bigint NOT NULL UNIQUE,
    -- The cluster, its timeline and the table.
    identity text NOT NULL,
    UNIQUE (started_at, table_oid)
);

ALTER TABLE streams
    -- The start under which the stream was last changed, as the server knows it, and its number.
    ADD COLUMN started_at timestamptz,
    ADD COLUMN table_oid bigint,
    ADD COLUMN start_id integer,
    -- The start under which it was changed before, and the last number of then.
    ADD COLUMN previous_start_id integer,
    ADD COLUMN last_before_start bigint NOT NULL DEFAULT 0;

-- Whoever gives the start its mark takes the same number.
CREATE FUNCTION note_start() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.previous_start_id := OLD.start_id;
    NEW.last_before_start := OLD.seq;
    NEW.started_at := pg_postmaster_start_time();
    NEW.table_oid := TG_RELID::bigint;
    NEW.start_id := coalesce(
        (SELECT id FROM database_starts WHERE started_at = pg_postmaster_start_time() AND table_oid = TG_RELID::bigint),
        (SELECT max(id) FROM database_starts) + 1, 1);
    RETURN NEW;
END
$$;

CREATE TRIGGER streams_first_change BEFORE UPDATE OF seq ON streams FOR EACH ROW
    WHEN (NEW.seq > OLD.seq AND (
        OLD.started_at IS DISTINCT FROM pg_postmaster_start_time()
        OR OLD.table_oid IS DISTINCT FROM 'streams'::regclass::oid::bigint
    ))
    EXECUTE FUNCTION note_start();

-- What a schema removes has no numbers. Cursors from before begin again.
ALTER TABLE schema_definitions ADD COLUMN removes_records boolean NOT NULL DEFAULT false;

-- migrate:down
ALTER TABLE schema_definitions DROP COLUMN removes_records;
DROP TRIGGER streams_first_change ON streams;
DROP FUNCTION note_start();
ALTER TABLE streams
    DROP COLUMN last_before_start,
    DROP COLUMN previous_start_id,
    DROP COLUMN start_id,
    DROP COLUMN table_oid,
    DROP COLUMN started_at;
DROP TABLE database_starts;
