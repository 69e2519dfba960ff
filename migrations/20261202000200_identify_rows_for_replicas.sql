-- Logical replication needs to know which row was changed, also in tables without a primary key.
-- migrate:up
ALTER TABLE schema_migrations REPLICA IDENTITY USING INDEX unique_schema_migrations;
-- Its unique index is one of expressions, which can't identify rows.
ALTER TABLE former_emails REPLICA IDENTITY FULL;

-- migrate:down
ALTER TABLE former_emails REPLICA IDENTITY DEFAULT;
ALTER TABLE schema_migrations REPLICA IDENTITY DEFAULT;
