-- Whether somebody owns a record of some collections.
-- migrate:up
CREATE INDEX records_owner_collection_index ON records (owner_id, collection_id) WHERE deleted_at IS NULL;
DROP INDEX records_owner_id_index;

-- migrate:down
CREATE INDEX records_owner_id_index ON records (owner_id) WHERE deleted_at IS NULL;
DROP INDEX records_owner_collection_index;
