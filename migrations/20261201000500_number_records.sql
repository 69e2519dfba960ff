-- Some collections count their records.
-- migrate:up
-- The number that the newest record without an id of its client's choice got.
ALTER TABLE collections ADD COLUMN last_number bigint NOT NULL DEFAULT 0;

-- migrate:down
ALTER TABLE collections DROP COLUMN last_number;
