-- Failures without an account are counted in one row an hour, event and network, and rows may be removed when they are old.
-- Otherwise whoever fails on purpose could fill the disk.
-- migrate:up
ALTER TABLE audit_events
    ADD COLUMN count integer NOT NULL DEFAULT 1,
    -- Only for rows that count: the beginning of their hour.
    ADD COLUMN hour timestamp;

CREATE UNIQUE INDEX audit_events_hour_key ON audit_events (hour, event, address) WHERE hour IS NOT NULL;
-- Rows come in the order of their times. So this kind of index is enough, and built in one look at the table, while sign-ins
-- wait.
CREATE INDEX audit_events_happened_at_index ON audit_events USING brin (happened_at);

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

-- migrate:down
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
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

DROP INDEX audit_events_happened_at_index;
DROP INDEX audit_events_hour_key;

ALTER TABLE audit_events DROP COLUMN count, DROP COLUMN hour;
