-- How far the import of a file has come, so that it goes on after it was interrupted.
-- migrate:up
CREATE TABLE record_imports (
    -- SHA-256 of the file.
    digest bytea PRIMARY KEY,
    line_count bigint NOT NULL DEFAULT 0,
    started_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')
);

-- Imported records that refer to what was not there yet.
CREATE TABLE unresolved_imports (
    digest bytea NOT NULL REFERENCES record_imports (digest) ON DELETE CASCADE,
    record_key bigint NOT NULL,
    PRIMARY KEY (digest, record_key)
);

-- migrate:down
DROP TABLE unresolved_imports;
DROP TABLE record_imports;
