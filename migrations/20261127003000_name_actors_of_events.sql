-- Who gave or took a role, and which. NULL for events of the command line, and of what users do themselves.
-- migrate:up
ALTER TABLE audit_events
    ADD COLUMN actor_id integer,
    ADD COLUMN role text;
CREATE INDEX audit_events_actor_id_index ON audit_events (actor_id, id) WHERE actor_id IS NOT NULL;

CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE'
        AND (NEW.id, NEW.happened_at, NEW.event) = (OLD.id, OLD.happened_at, OLD.event)
        AND NEW.user_id IS NOT DISTINCT FROM OLD.user_id AND NEW.hour IS NOT DISTINCT FROM OLD.hour
        AND NEW.actor_id IS NOT DISTINCT FROM OLD.actor_id AND NEW.role IS NOT DISTINCT FROM OLD.role
        AND (NEW.address IS NULL AND NEW.count = OLD.count
            OR NEW.address = OLD.address AND NEW.count = OLD.count + 1 AND NEW.hour IS NOT NULL)
        AND (NEW.request_id IS NULL OR NEW.request_id = OLD.request_id)
    THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' AND OLD.happened_at < now() AT TIME ZONE 'UTC' - interval '29 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit_events is append-only';
END
$$;

-- migrate:down
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE'
        AND (NEW.id, NEW.happened_at, NEW.event) = (OLD.id, OLD.happened_at, OLD.event)
        AND NEW.user_id IS NOT DISTINCT FROM OLD.user_id AND NEW.hour IS NOT DISTINCT FROM OLD.hour
        AND (NEW.address IS NULL AND NEW.count = OLD.count
            OR NEW.address = OLD.address AND NEW.count = OLD.count + 1 AND NEW.hour IS NOT NULL)
        AND (NEW.request_id IS NULL OR NEW.request_id = OLD.request_id)
    THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' AND OLD.happened_at < now() AT TIME ZONE 'UTC' - interval '29 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit_events is append-only';
END
$$;

ALTER TABLE audit_events DROP COLUMN actor_id, DROP COLUMN role;
