-- A grant whose right to read has ended may have other rights, and is kept then. Those must not stand before the ones that
-- are forgotten after a month.
-- migrate:up
CREATE INDEX grants_forgettable_index ON grants (ended_at) WHERE rights = 0;
DROP INDEX grants_ended_at_index;

-- migrate:down
CREATE INDEX grants_ended_at_index ON grants (ended_at) WHERE ended_at IS NOT NULL;
DROP INDEX grants_forgettable_index;
