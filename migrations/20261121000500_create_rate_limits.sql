-- How often what was done in a window of time, counted by all processes. The keys are codes that name nobody. Losing the
-- table in a crash begins new windows, so it needs no log.
-- migrate:up
CREATE UNLOGGED TABLE rate_limits (
    key text PRIMARY KEY,
    count integer NOT NULL,
    window_ends_at timestamp NOT NULL
);

CREATE INDEX rate_limits_window_ends_at_index ON rate_limits (window_ends_at);

-- Where a user has signed in from before: there, nobody else's wrong passwords count.
CREATE TABLE known_addresses (
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    network text NOT NULL,
    last_used_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    PRIMARY KEY (user_id, network)
);

CREATE INDEX known_addresses_last_used_at_index ON known_addresses (last_used_at);

-- migrate:down
DROP TABLE known_addresses;
DROP TABLE rate_limits;
