-- What people need to recognise a session by, and when it was last used.
-- migrate:up
ALTER TABLE sessions
    ADD COLUMN device varchar(255),
    ADD COLUMN last_used_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC');

CREATE INDEX sessions_expires_at_index ON sessions (expires_at);

-- migrate:down
DROP INDEX sessions_expires_at_index;

ALTER TABLE sessions
    DROP COLUMN last_used_at,
    DROP COLUMN device;
