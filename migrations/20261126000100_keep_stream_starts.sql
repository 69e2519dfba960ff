-- A cursor may be from several starts of PostgreSQL ago. Each stream keeps the number that it had at its last starts.
-- migrate:up
CREATE TABLE stream_starts (
    stream_id bigint NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    -- A start under which the stream was changed.
    start_id integer NOT NULL,
    -- The number of the last change before that start; 0 for the oldest row of those that are kept.
    last_before bigint NOT NULL,
    PRIMARY KEY (stream_id, start_id)
);

INSERT INTO stream_starts (stream_id, start_id, last_before)
SELECT id, previous_start_id, 0 FROM streams WHERE previous_start_id IS NOT NULL
UNION ALL SELECT id, start_id, last_before_start FROM streams WHERE start_id IS NOT NULL;

CREATE OR REPLACE FUNCTION note_start() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.started_at := pg_postmaster_start_time();
    NEW.table_oid := TG_RELID::bigint;
    NEW.start_id := coalesce(
        (SELECT id FROM database_starts WHERE started_at = pg_postmaster_start_time() AND table_oid = TG_RELID::bigint),
        (SELECT max(id) FROM database_starts) + 1, 1);
    -- A start that nobody has given a mark has the same number as the next one.
    INSERT INTO stream_starts (stream_id, start_id, last_before) VALUES (NEW.id, NEW.start_id, OLD.seq)
    ON CONFLICT DO NOTHING;
    -- Of what came before the sixteenth last start, nothing is known.
    DELETE FROM stream_starts WHERE stream_id = NEW.id AND start_id < (
        SELECT start_id FROM stream_starts WHERE stream_id = NEW.id ORDER BY start_id DESC OFFSET 15 LIMIT 1
    );
    UPDATE stream_starts SET last_before = 0 WHERE stream_id = NEW.id AND start_id = (
        SELECT start_id FROM stream_starts WHERE stream_id = NEW.id ORDER BY start_id DESC OFFSET 15 LIMIT 1
    );
    RETURN NEW;
END
$$;

ALTER TABLE streams DROP COLUMN previous_start_id, DROP COLUMN last_before_start;

-- migrate:down
ALTER TABLE streams
    ADD COLUMN previous_start_id integer,
    ADD COLUMN last_before_start bigint NOT NULL DEFAULT 0;

UPDATE streams SET last_before_start = last_before, previous_start_id = (
    SELECT max(earlier.start_id) FROM stream_starts AS earlier
    WHERE earlier.stream_id = streams.id AND earlier.start_id < streams.start_id
)
FROM stream_starts WHERE stream_id = streams.id AND stream_starts.start_id = streams.start_id;

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

DROP TABLE stream_starts;
