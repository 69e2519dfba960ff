-- A bucket may keep old versions of its objects. Each upload makes one. Its id is kept with the photo, and goes into
-- object_deletions with it, so that the version can be deleted.
-- migrate:up
ALTER TABLE photos ADD COLUMN object_version text;
ALTER TABLE object_deletions ADD COLUMN object_version text;

-- migrate:down
ALTER TABLE object_deletions DROP COLUMN object_version;
ALTER TABLE photos DROP COLUMN object_version;
