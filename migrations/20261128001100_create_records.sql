-- Records are JSON objects in collections. Indexed fields and references have rows of their own.
-- migrate:up
CREATE TABLE schema_definitions (
    -- Grows with each change. The current schema has the largest.
    version bigint PRIMARY KEY,
    definition json NOT NULL,
    applied_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    -- Records that a schema removes take no numbers. Cursors from before begin again.
    removes_records boolean NOT NULL DEFAULT false
);

CREATE TABLE records (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection_id integer NOT NULL,
    -- The user in whose inbox it is; 0 for other records.
    recipient_id integer NOT NULL DEFAULT 0,
    id text COLLATE "C" NOT NULL,
    owner_id integer NOT NULL,
    -- NULL once it is deleted.
    data json,
    byte_count integer NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    created_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    updated_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    expires_at timestamp,
    deleted_at timestamp,
    -- HMAC-SHA256 of the data that a member sent to another member's inbox. It stays when the recipient deletes the record.
    sent_digest bytea,
    -- The bytes of that data. They count for the sender until the tombstone is removed, so that the sender does not notice the
    -- deletion. Bytes that the recipient adds count for the recipient.
    sent_byte_count integer,
    -- The expiry that the sender set.
    sent_expires_at timestamp,
    CHECK ((data IS NULL) = (deleted_at IS NOT NULL))
);

CREATE UNIQUE INDEX records_id_key ON records (collection_id, recipient_id, id) WHERE deleted_at IS NULL;
-- The version is in the index for its maximum: an id may have been deleted many times.
CREATE INDEX records_deleted_id_index ON records (collection_id, recipient_id, id, version) WHERE deleted_at IS NOT NULL;
-- Finds a sender's record even if the inbox has many deleted records with its id.
CREATE INDEX records_deleted_sender_index ON records (collection_id, recipient_id, id, owner_id)
WHERE deleted_at IS NOT NULL AND recipient_id > 0;
CREATE INDEX records_owner_id_index ON records (owner_id) WHERE deleted_at IS NULL;
CREATE INDEX records_recipient_id_index ON records (recipient_id) WHERE recipient_id > 0;
CREATE INDEX records_expires_at_index ON records (expires_at) WHERE deleted_at IS NULL AND expires_at IS NOT NULL;
CREATE INDEX records_deleted_at_index ON records (deleted_at) WHERE deleted_at IS NOT NULL;

-- The values of indexed fields, for each stream that shows the record.
CREATE TABLE record_index (
    stream_id bigint NOT NULL,
    collection_id integer NOT NULL,
    field text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    record_key bigint NOT NULL,
    PRIMARY KEY (stream_id, collection_id, field, value, record_key)
);

CREATE INDEX record_index_record_key_index ON record_index (record_key);

-- The records that fields refer to.
CREATE TABLE record_references (
    record_key bigint NOT NULL,
    field text COLLATE "C" NOT NULL,
    target_key bigint NOT NULL,
    -- The user who set it. Only references set by owners and writers prevent a deletion.
    owner_id integer,
    PRIMARY KEY (record_key, field)
);

CREATE INDEX record_references_target_key_index ON record_references (target_key, owner_id);

CREATE TABLE photo_references (
    record_key bigint NOT NULL,
    field text COLLATE "C" NOT NULL,
    photo_id integer NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
    -- The photo's owner, which is needed when the photo is deleted.
    photo_owner_id integer,
    PRIMARY KEY (record_key, field)
);

CREATE INDEX photo_references_photo_id_index ON photo_references (photo_id);

-- Records whose photo was deleted, until their readers get a change. The owner of the photos, if they had only one.
CREATE TABLE photo_losses (record_key bigint PRIMARY KEY, photo_owner_id integer);

-- Set when an account is deleted. Its records are then deleted batch by batch.
ALTER TABLE users ADD COLUMN leaving_since timestamp;
CREATE INDEX users_leaving_since_index ON users (leaving_since) WHERE leaving_since IS NOT NULL;

-- migrate:down
DROP INDEX users_leaving_since_index;
ALTER TABLE users DROP COLUMN leaving_since;
DROP TABLE photo_losses;
DROP TABLE photo_references;
DROP TABLE record_references;
DROP TABLE record_index;
DROP TABLE records;
DROP TABLE schema_definitions;
