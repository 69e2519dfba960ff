-- What is to be sent out, such as mails. A row is written by the transaction of its cause, and goes when it was taken.
-- It has ids and versions, but no contents, no code and no address: these are looked up when it is sent.
-- migrate:up
CREATE TABLE deliveries (
    id uuid PRIMARY KEY,
    channel text NOT NULL CHECK (channel IN ('mail', 'apns', 'fcm', 'webhook')),
    -- Deliveries to one target share its turns, and few of them are under way at once.
    target text NOT NULL CHECK (octet_length(target) BETWEEN 1 AND 255),
    cause jsonb NOT NULL CHECK (jsonb_typeof(cause) = 'object' AND octet_length(cause::text) <= 4096),
    created_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    due_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    -- It is not sent later.
    ends_at timestamp NOT NULL,
    try_count integer NOT NULL DEFAULT 0,
    -- Until then, a process tries to send it.
    claimed_until timestamp,
    -- Why the last try failed, in a word.
    reason text,
    -- Set once it is not tried any more; a week later, the row goes.
    failed_at timestamp
);

CREATE INDEX deliveries_target_index ON deliveries (channel, target, due_at, id) WHERE failed_at IS NULL;
CREATE INDEX deliveries_ends_at_index ON deliveries (ends_at) WHERE failed_at IS NULL;
CREATE INDEX deliveries_failed_at_index ON deliveries (failed_at) WHERE failed_at IS NOT NULL;

-- migrate:down
DROP TABLE deliveries;
