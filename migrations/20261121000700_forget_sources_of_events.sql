-- After 90 days an event loses its request's id along with its address, since a client may have chosen it.
-- migrate:up
DROP INDEX audit_events_address_index;

CREATE INDEX audit_events_source_index ON audit_events (happened_at)
    WHERE address IS NOT NULL OR request_id IS NOT NULL;

-- migrate:down
DROP INDEX audit_events_source_index;

CREATE INDEX audit_events_address_index ON audit_events (happened_at) WHERE address IS NOT NULL;
