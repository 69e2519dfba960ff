-- Standbys can be read from, as far as each session's own writes have arrived there.
-- migrate:up
-- How many calls of the session may have changed something. A standby that has the number has all rows from before.
ALTER TABLE sessions ADD COLUMN write_count bigint NOT NULL DEFAULT 0;

-- Written every few seconds while standbys are read: its age at a standby is how far that is behind.
CREATE TABLE replication_heartbeat (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    beaten_at timestamptz NOT NULL
);

-- migrate:down
DROP TABLE replication_heartbeat;
ALTER TABLE sessions DROP COLUMN write_count;
