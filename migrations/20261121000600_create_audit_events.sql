-- What happened to accounts, and who may use theirs. Events outlive the account, so user_id refers to nothing; all that may
-- be changed of one is that its address and its request's id go. Who leaves has all photos looked for, so these get an index.
-- migrate:up
ALTER TABLE users ADD COLUMN disabled_at timestamp;

CREATE TABLE audit_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    happened_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    event text NOT NULL,
    user_id integer,
    address text,
    request_id text
);

CREATE INDEX audit_events_user_id_index ON audit_events (user_id, id);
CREATE INDEX audit_events_address_index ON audit_events (happened_at) WHERE address IS NOT NULL;
CREATE INDEX photos_user_id_index ON photos (user_id);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.address IS NULL
        AND (NEW.id, NEW.happened_at, NEW.event) = (OLD.id, OLD.happened_at, OLD.event)
        AND NEW.user_id IS NOT DISTINCT FROM OLD.user_id
        AND (NEW.request_id IS NULL OR NEW.request_id = OLD.request_id)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'audit_events is append-only';
END
$$;

CREATE TRIGGER audit_events_rows BEFORE UPDATE OR DELETE ON audit_events
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_events_table BEFORE TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- migrate:down
DROP INDEX photos_user_id_index;
DROP TABLE audit_events;
DROP FUNCTION refuse_audit_change();

ALTER TABLE users DROP COLUMN disabled_at;
