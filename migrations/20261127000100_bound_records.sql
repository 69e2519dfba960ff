-- What a sender sent stays known by a keyed digest, so that an answer tells nothing of what the recipient did. A user's
-- records have a quota in bytes, which deleted ones count for while they are remembered. References know their owner, since
-- only those of owners and writers hold a record. And records hear that their photo is gone.
-- migrate:up
-- What others write meanwhile would not be counted.
LOCK TABLE records, streams IN SHARE ROW EXCLUSIVE MODE;

ALTER TABLE records
    -- HMAC-SHA256 of the data that a member sent to the inbox of another one.
    ADD COLUMN sent_digest bytea,
    -- Its bytes, which count for its sender until the record is forgotten: the sender must not notice when it is deleted. What
    -- the recipient adds counts for the recipient.
    ADD COLUMN sent_byte_count integer,
    -- The end that its sender gave it.
    ADD COLUMN sent_expires_at timestamp;

-- Finds what somebody sent with an id that the recipient has used very often.
CREATE INDEX records_deleted_sender_index ON records (collection_id, recipient_id, id, owner_id)
WHERE deleted_at IS NOT NULL AND recipient_id > 0;

UPDATE records SET sent_byte_count = byte_count
WHERE recipient_id > 0 AND recipient_id <> owner_id AND deleted_at IS NULL;

-- NULL only for what an older version adds beside this one. Such a reference holds nothing.
ALTER TABLE record_references ADD COLUMN owner_id integer;
UPDATE record_references SET owner_id = records.owner_id FROM records WHERE key = record_key;
DROP INDEX record_references_target_key_index;
CREATE INDEX record_references_target_key_index ON record_references (target_key, owner_id);

-- Bytes of data that count for a user.
ALTER TABLE streams ADD COLUMN byte_count bigint NOT NULL DEFAULT 0;
UPDATE streams SET record_count = owned.count, byte_count = owned.bytes
FROM (SELECT owner_id, count(*), sum(byte_count)::bigint AS bytes FROM records GROUP BY owner_id) AS owned
WHERE user_id = owner_id;

-- How many records of somebody else a user's stream shows, and how many of them wait in the user's inboxes.
CREATE TABLE stream_authors (
    stream_id bigint NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    author_id integer NOT NULL,
    record_count bigint NOT NULL,
    inbox_count bigint NOT NULL,
    PRIMARY KEY (stream_id, author_id)
);

INSERT INTO stream_authors (stream_id, author_id, record_count, inbox_count)
SELECT stream_id, owner_id, count(*), count(*) FILTER (WHERE recipient_id > 0)
FROM grants JOIN records ON key = record_key AND records.collection_id = grants.collection_id
    JOIN streams ON streams.id = stream_id
WHERE rights % 2 = 1 AND user_id <> owner_id GROUP BY stream_id, owner_id;

CREATE INDEX stream_authors_unused_index ON stream_authors (stream_id) WHERE record_count <= 0;

-- The photo's owner, which is needed when the photo is gone. NULL for what an older version adds beside this one.
ALTER TABLE photo_references ADD COLUMN photo_owner_id integer;
UPDATE photo_references SET photo_owner_id = photos.user_id FROM photos WHERE photos.id = photo_id;

-- Records whose photo is gone, until their readers' streams show it; and whose photo it was, if it was one user's.
CREATE TABLE photo_losses (record_key bigint PRIMARY KEY, photo_owner_id integer);

CREATE OR REPLACE FUNCTION release_photos() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO photo_releases (photo_id, due_at)
    SELECT id, now() AT TIME ZONE 'UTC' FROM photos
    WHERE id IN (SELECT photo_id FROM dropped) AND state = 'unlisted' ORDER BY id
    ON CONFLICT (photo_id) DO UPDATE SET due_at = excluded.due_at;
    IF TG_OP = 'DELETE' THEN
        INSERT INTO photo_losses (record_key, photo_owner_id)
        SELECT record_key,
            CASE WHEN count(photo_owner_id) = count(*) AND min(photo_owner_id) = max(photo_owner_id)
                THEN min(photo_owner_id) END
        FROM dropped WHERE NOT EXISTS (SELECT FROM photos WHERE photos.id = photo_id)
        GROUP BY record_key ORDER BY record_key
        ON CONFLICT (record_key) DO UPDATE SET photo_owner_id =
            CASE WHEN photo_losses.photo_owner_id = excluded.photo_owner_id THEN excluded.photo_owner_id END;
    END IF;
    RETURN NULL;
END
$$;

-- migrate:down
CREATE OR REPLACE FUNCTION release_photos() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO photo_releases (photo_id, due_at)
    SELECT id, now() AT TIME ZONE 'UTC' FROM photos
    WHERE id IN (SELECT photo_id FROM dropped) AND state = 'unlisted' ORDER BY id
    ON CONFLICT (photo_id) DO UPDATE SET due_at = excluded.due_at;
    RETURN NULL;
END
$$;

DROP TABLE photo_losses;
ALTER TABLE photo_references DROP COLUMN photo_owner_id;
DROP TABLE stream_authors;

LOCK TABLE records, streams IN SHARE ROW EXCLUSIVE MODE;
ALTER TABLE streams DROP COLUMN byte_count;
UPDATE streams SET record_count = (SELECT count(*) FROM records WHERE owner_id = user_id AND deleted_at IS NULL)
WHERE user_id IS NOT NULL AND record_count > 0;

-- References to records that are gone are of no use to older versions.
DELETE FROM record_references WHERE NOT EXISTS (SELECT FROM records WHERE key = target_key AND deleted_at IS NULL);
DROP INDEX record_references_target_key_index;
ALTER TABLE record_references DROP COLUMN owner_id;
CREATE INDEX record_references_target_key_index ON record_references (target_key);

DROP INDEX records_deleted_sender_index;
ALTER TABLE records DROP COLUMN sent_expires_at, DROP COLUMN sent_byte_count, DROP COLUMN sent_digest;
