-- Records are JSON objects in collections. What lists and rules need of them are rows of their own.
-- migrate:up
CREATE TABLE schema_definitions (
    -- Grows with each change. The present one is the largest.
    version bigint PRIMARY KEY,
    definition json NOT NULL,
    applied_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    -- What a schema removes has no numbers. Cursors from before begin again.
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
    -- HMAC-SHA256 of the data that a member sent to the inbox of another one. It stays when the recipient deletes the record.
    sent_digest bytea,
    -- Its bytes. They count for its sender until the record is forgotten, so that the sender does not notice the deletion.
    -- What the recipient adds counts for the recipient.
    sent_byte_count integer,
    -- The expiry that its sender gave it.
    sent_expires_at timestamp,
    CHECK ((data IS NULL) = (deleted_at IS NOT NULL))
);

CREATE UNIQUE INDEX records_id_key ON records (collection_id, recipient_id, id) WHERE deleted_at IS NULL;
-- The version is there for its maximum: an id may have been deleted many times.
CREATE INDEX records_deleted_id_index ON records (collection_id, recipient_id, id, version) WHERE deleted_at IS NOT NULL;
-- Finds what somebody sent with an id that the recipient has used very often.
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

-- What fields refer to.
CREATE TABLE record_references (
    record_key bigint NOT NULL,
    field text COLLATE "C" NOT NULL,
    target_key bigint NOT NULL,
    -- The user who set it. Only references of owners and writers keep a record from being deleted.
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

-- Records whose photo was deleted, until the streams of their readers show it; and whose photo it was, if it was one user's.
CREATE TABLE photo_losses (record_key bigint PRIMARY KEY, photo_owner_id integer);

-- An account that is closed for good, and whose records go batch by batch.
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
