-- A remembered session has no fixed end. Each use moves its end on, by as many days as it may be unused.
-- migrate:up
ALTER TABLE sessions ADD COLUMN max_unused_days integer CHECK (max_unused_days > 0);

-- migrate:down
ALTER TABLE sessions DROP COLUMN max_unused_days;
