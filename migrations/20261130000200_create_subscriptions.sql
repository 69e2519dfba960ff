-- The devices that get pushes, and what users want to be told of while their apps are closed.
-- migrate:up
CREATE TABLE devices (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- A device ends with the session that registered it.
    session_id bigint NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    platform text NOT NULL CHECK (platform IN ('apns', 'fcm')),
    -- The device's name at Apple or Google.
    token text COLLATE "C" NOT NULL CHECK (octet_length(token) BETWEEN 1 AND 512),
    environment text NOT NULL CHECK (environment IN ('production', 'sandbox')),
    -- The app's bundle id; NULL for the setting's.
    topic text,
    -- What the app's icon shows.
    badge integer NOT NULL DEFAULT 0,
    registered_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    UNIQUE (platform, token)
);

CREATE INDEX devices_user_id_index ON devices (user_id, id);
CREATE INDEX devices_session_id_index ON devices (session_id);

-- What subscriptions look for. Those that look for the same share a row, so that a writer looks up few.
CREATE TABLE subscription_filters (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- 0 for photos.
    collection_id integer NOT NULL,
    -- The SHA-256 digest of the values as the index has them, in hexadecimal.
    digest text COLLATE "C" NOT NULL,
    -- The condition as a client has sent it.
    condition json NOT NULL,
    UNIQUE (collection_id, digest)
);

CREATE TABLE subscriptions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The id of the client's choice.
    name text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 255),
    filter_id bigint NOT NULL REFERENCES subscription_filters (id),
    -- `created`, `updated`, `deleted`.
    kinds text[] NOT NULL,
    is_once boolean NOT NULL,
    channel text NOT NULL CHECK (channel IN ('push', 'mail')),
    alert text,
    sound text,
    has_badge boolean NOT NULL,
    is_silent boolean NOT NULL,
    collapse text,
    created_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    -- When it told of something, if it does that only once.
    fired_at timestamp,
    UNIQUE (user_id, name)
);

-- One that is spread out is walked along in this order.
CREATE INDEX subscriptions_filter_id_index ON subscriptions (filter_id, id);
CREATE INDEX subscriptions_user_filter_index ON subscriptions (filter_id, user_id);

-- The server whose return it waits for, since that takes nothing at present; NULL for none.
ALTER TABLE deliveries ADD COLUMN awaited_server text;
CREATE INDEX deliveries_awaited_server_index ON deliveries (channel, awaited_server, due_at)
    WHERE awaited_server IS NOT NULL AND failed_at IS NULL;

-- A change that subscriptions are told of waits as a delivery, too.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_channel_check;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_channel_check
    CHECK (channel IN ('mail', 'apns', 'fcm', 'webhook', 'subscriptions'));

-- Adds a delivery for a change of a photo, if its owner has a subscription. The transaction says which session changes it.
CREATE FUNCTION tell_photo_subscriptions(owner integer, stream bigint, photo bigint, change text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO deliveries (id, channel, target, cause, ends_at)
    SELECT gen_random_uuid(), 'subscriptions', 'stream:' || stream,
        jsonb_strip_nulls(jsonb_build_object('kind', 'change', 'stream', stream, 'collection', 0, 'key', photo,
            'author', owner, 'session', nullif(current_setting('selfie.session', true), '')::bigint,
            'filters', jsonb_build_object(filter.id, change))),
        now() AT TIME ZONE 'UTC' + interval '56 hours'
    FROM subscription_filters AS filter
    WHERE filter.collection_id = 0 AND EXISTS (
        SELECT FROM subscriptions WHERE filter_id = filter.id AND subscriptions.user_id = owner
    ) AND EXISTS (SELECT FROM users WHERE id = owner AND leaving_since IS NULL)
$$;

-- The same as before, and it tells subscriptions.
CREATE OR REPLACE FUNCTION change_photo_library(integer, bigint, bigint, bigint[], text[], boolean[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    changes bigint := coalesce(cardinality($4), 0);
    stream bigint;
    number bigint;
BEGIN
    INSERT INTO photo_libraries (user_id) VALUES ($1) ON CONFLICT DO NOTHING;
    PERFORM FROM photo_libraries WHERE user_id = $1 FOR NO KEY UPDATE;
    IF changes > 0 THEN
        UPDATE streams SET seq = seq + changes WHERE user_id = $1 RETURNING id, seq INTO stream, number;
    END IF;
    -- Only once: a row that is changed twice is checked against its user, who may be locked by the deletion of the account.
    UPDATE photo_libraries SET
        version = coalesce(number, version),
        changed_at = CASE WHEN changes > 0 THEN next_version(greatest(changed_at, version)) ELSE changed_at END,
        photo_count = photo_count + $2,
        byte_count = byte_count + $3
    WHERE user_id = $1;
    IF stream IS NULL THEN
        RETURN;
    END IF;
    PERFORM tell_webhooks('photos', change, jsonb_build_object('collection', 'photos', 'id', random_id, 'owner', member_id,
            'version', number - changes + position)),
        tell_photo_subscriptions($1, stream, changed.id, change)
    FROM (
        SELECT changed.*, CASE WHEN NOT is_shown THEN 'deleted' WHEN grants.rights = 1 THEN 'updated' ELSE 'created' END AS change
        FROM unnest($4, $5, $6) WITH ORDINALITY AS changed (id, random_id, is_shown, position)
        LEFT JOIN grants ON collection_id = 0 AND record_key = changed.id AND stream_id = stream
    ) AS changed
    LEFT JOIN users ON users.id = $1
    WHERE EXISTS (SELECT FROM webhooks WHERE disabled_at IS NULL)
        OR EXISTS (SELECT FROM subscription_filters WHERE collection_id = 0);
    INSERT INTO grants AS old (stream_id, collection_id, record_key, rights, seq, shown_seq, ended_at, random_id)
    SELECT stream, 0, id, CASE WHEN is_shown THEN 1 ELSE 0 END, number - changes + position,
        CASE WHEN is_shown THEN number - changes + position END,
        CASE WHEN NOT is_shown THEN now() AT TIME ZONE 'UTC' END, random_id
    FROM unnest($4, $5, $6) WITH ORDINALITY AS changed (id, random_id, is_shown, position)
    ON CONFLICT (collection_id, record_key, stream_id) DO UPDATE SET rights = excluded.rights, seq = excluded.seq,
        shown_seq = CASE WHEN old.rights = 1 AND excluded.rights = 1 THEN old.shown_seq ELSE excluded.shown_seq END,
        ended_at = excluded.ended_at;
END
$$;

-- migrate:down
CREATE OR REPLACE FUNCTION change_photo_library(integer, bigint, bigint, bigint[], text[], boolean[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    changes bigint := coalesce(cardinality($4), 0);
    stream bigint;
    number bigint;
BEGIN
    INSERT INTO photo_libraries (user_id) VALUES ($1) ON CONFLICT DO NOTHING;
    PERFORM FROM photo_libraries WHERE user_id = $1 FOR NO KEY UPDATE;
    IF changes > 0 THEN
        UPDATE streams SET seq = seq + changes WHERE user_id = $1 RETURNING id, seq INTO stream, number;
    END IF;
    -- Only once: a row that is changed twice is checked against its user, who may be locked by the deletion of the account.
    UPDATE photo_libraries SET
        version = coalesce(number, version),
        changed_at = CASE WHEN changes > 0 THEN next_version(greatest(changed_at, version)) ELSE changed_at END,
        photo_count = photo_count + $2,
        byte_count = byte_count + $3
    WHERE user_id = $1;
    IF stream IS NULL THEN
        RETURN;
    END IF;
    PERFORM tell_webhooks('photos',
        CASE WHEN NOT is_shown THEN 'deleted' WHEN grants.rights = 1 THEN 'updated' ELSE 'created' END,
        jsonb_build_object('collection', 'photos', 'id', changed.random_id, 'owner', member_id,
            'version', number - changes + position))
    FROM unnest($4, $5, $6) WITH ORDINALITY AS changed (id, random_id, is_shown, position)
    LEFT JOIN grants ON collection_id = 0 AND record_key = changed.id AND stream_id = stream
    LEFT JOIN users ON users.id = $1
    WHERE EXISTS (SELECT FROM webhooks WHERE disabled_at IS NULL);
    INSERT INTO grants AS old (stream_id, collection_id, record_key, rights, seq, shown_seq, ended_at, random_id)
    SELECT stream, 0, id, CASE WHEN is_shown THEN 1 ELSE 0 END, number - changes + position,
        CASE WHEN is_shown THEN number - changes + position END,
        CASE WHEN NOT is_shown THEN now() AT TIME ZONE 'UTC' END, random_id
    FROM unnest($4, $5, $6) WITH ORDINALITY AS changed (id, random_id, is_shown, position)
    ON CONFLICT (collection_id, record_key, stream_id) DO UPDATE SET rights = excluded.rights, seq = excluded.seq,
        shown_seq = CASE WHEN old.rights = 1 AND excluded.rights = 1 THEN old.shown_seq ELSE excluded.shown_seq END,
        ended_at = excluded.ended_at;
END
$$;
DROP FUNCTION tell_photo_subscriptions(integer, bigint, bigint, text);

DELETE FROM deliveries WHERE channel IN ('apns', 'fcm', 'subscriptions') OR cause->>'kind' = 'records_changed';
ALTER TABLE deliveries DROP CONSTRAINT deliveries_channel_check;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_channel_check CHECK (channel IN ('mail', 'apns', 'fcm', 'webhook'));

ALTER TABLE deliveries DROP COLUMN awaited_server;

DROP TABLE subscriptions;
DROP TABLE subscription_filters;
DROP TABLE devices;
