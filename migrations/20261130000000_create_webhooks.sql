-- Receivers of events on the operator's own servers (Standard Webhooks 1.0).
-- migrate:up
CREATE TABLE webhooks (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url text NOT NULL,
    -- Collections, `photos` and `users`, or one kind of their events, such as `photos.created`.
    events text[] NOT NULL,
    -- Whether it gets what an event is about, too.
    is_full boolean NOT NULL DEFAULT false,
    -- Sealed under a key of the service.
    secret text NOT NULL,
    -- The secret before, which signs as well until then.
    former_secret text,
    former_secret_ends_at timestamp,
    created_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    -- Since when every try has failed; NULL after a success.
    failing_since timestamp,
    disabled_at timestamp,
    -- `by_hand`, `gone` (its receiver answered 410), or `failing` for days.
    disabled_reason text,
    CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
    CHECK ((former_secret IS NULL) = (former_secret_ends_at IS NULL))
);

-- Adds a delivery for each webhook that is told of a change: of what, which (`created`), and what its receiver gets.
CREATE FUNCTION tell_webhooks(collection text, change text, data jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO deliveries (id, channel, target, cause, ends_at)
    SELECT gen_random_uuid(), 'webhook', 'webhook:' || webhooks.id,
        jsonb_build_object('kind', 'event', 'type', collection || '.' || change, 'data', data),
        now() AT TIME ZONE 'UTC' + interval '56 hours'
    FROM webhooks WHERE disabled_at IS NULL AND events && ARRAY[collection, collection || '.' || change]
$$;

-- The same as before, and it tells webhooks.
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

CREATE FUNCTION tell_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    member text := coalesce(NEW.member_id, OLD.member_id);
    change text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        change := 'created';
    ELSIF TG_OP = 'DELETE' THEN
        -- An account that leaves in parts was told of when it began to.
        IF OLD.leaving_since IS NULL THEN change := 'deleted'; END IF;
    ELSIF NEW.leaving_since IS NOT NULL AND OLD.leaving_since IS NULL THEN
        change := 'deleted';
    ELSIF NEW.disabled_at IS NOT NULL AND OLD.disabled_at IS NULL THEN
        change := 'disabled';
    ELSIF NEW.email IS DISTINCT FROM OLD.email AND NEW.leaving_since IS NULL THEN
        change := 'email_changed';
    END IF;
    IF change IS NOT NULL THEN
        PERFORM tell_webhooks('users', change, jsonb_build_object('collection', 'users', 'id', member, 'owner', member));
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER users_told AFTER INSERT OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION tell_of_user();
CREATE TRIGGER users_change_told AFTER UPDATE OF email, disabled_at, leaving_since ON users
    FOR EACH ROW EXECUTE FUNCTION tell_of_user();

-- migrate:down
DROP TRIGGER users_change_told ON users;
DROP TRIGGER users_told ON users;
DROP FUNCTION tell_of_user();

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

DROP FUNCTION tell_webhooks(text, text, jsonb);
DELETE FROM deliveries WHERE channel = 'webhook';
DROP TABLE webhooks;
