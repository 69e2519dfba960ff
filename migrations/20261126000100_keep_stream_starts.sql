-- A cursor may be from several starts of PostgreSQL ago. Each stream keeps the number that it had at its last starts.
-- migrate:up
-- At once, so that no writer holds a weaker lock when the stronger one is asked for.
LOCK TABLE streams IN ACCESS EXCLUSIVE MODE;

CREATE TABLE stream_starts (
    stream_id bigint NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    -- A start under which the stream was changed.
    start_id integer NOT NULL,
    -- The number of the last change before that start; 0 for the oldest of sixteen rows.
    last_before bigint NOT NULL,
    PRIMARY KEY (stream_id, start_id)
);

-- Two starts may have the same number, if nobody read under the first.
INSERT INTO stream_starts (stream_id, start_id, last_before)
SELECT stream_id, start_id, min(last_before) FROM (
    SELECT id, previous_start_id, 0 FROM streams WHERE previous_start_id IS NOT NULL
    UNION ALL SELECT id, start_id, last_before_start FROM streams WHERE start_id IS NOT NULL
) AS known (stream_id, start_id, last_before)
GROUP BY stream_id, start_id;

ALTER TABLE streams DROP COLUMN previous_start_id, DROP COLUMN last_before_start, DROP COLUMN start_id;

-- A copy of a database (CREATE DATABASE … TEMPLATE) has the same tables, and needs no start.
ALTER TABLE database_starts ADD COLUMN database_oid bigint;
UPDATE database_starts SET database_oid = here.oid, identity = concat_ws(' ', identity, here.oid)
FROM pg_database AS here WHERE datname = current_database();
ALTER TABLE database_starts
    ALTER COLUMN database_oid SET NOT NULL,
    DROP CONSTRAINT database_starts_started_at_table_oid_key,
    ADD UNIQUE (started_at, table_oid, database_oid);

CREATE OR REPLACE FUNCTION note_start() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    present_id integer := coalesce(
        (
            SELECT id FROM database_starts
            WHERE started_at = pg_postmaster_start_time() AND table_oid = TG_RELID::bigint
                AND database_oid = (SELECT oid::bigint FROM pg_database WHERE datname = current_database())
        ),
        -- The start gets this number as soon as somebody reads.
        (SELECT max(id) FROM database_starts) + 1, 1);
    oldest_id integer;
BEGIN
    NEW.started_at := pg_postmaster_start_time();
    NEW.table_oid := TG_RELID::bigint;
    -- A start under which nobody read has the same number as the next one.
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

-- migrate:down
LOCK TABLE streams IN ACCESS EXCLUSIVE MODE;

ALTER TABLE streams
    ADD COLUMN start_id integer,
    ADD COLUMN previous_start_id integer,
    ADD COLUMN last_before_start bigint NOT NULL DEFAULT 0;

UPDATE streams SET start_id = latest.start_id, last_before_start = latest.last_before, previous_start_id = (
    SELECT max(earlier.start_id) FROM stream_starts AS earlier
    WHERE earlier.stream_id = streams.id AND earlier.start_id < latest.start_id
)
FROM stream_starts AS latest
WHERE latest.stream_id = streams.id
    AND latest.start_id = (SELECT max(start_id) FROM stream_starts WHERE stream_id = streams.id);

CREATE OR REPLACE FUNCTION note_start() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- Those of other databases are of no use.
DELETE FROM database_starts
WHERE database_oid <> (SELECT oid::bigint FROM pg_database WHERE datname = current_database());
ALTER TABLE database_starts DROP COLUMN database_oid;
ALTER TABLE database_starts ADD UNIQUE (started_at, table_oid);
UPDATE database_starts SET identity = regexp_replace(identity, ' [^ ]*$', '');

DROP TABLE stream_starts;
