-- Which addresses are proven to be their users', and the codes of six digits that prove them.
-- migrate:up
ALTER TABLE users
    -- When its user proved the present address; NULL while that is unproven.
    ADD COLUMN email_verified_at timestamp,
    -- When a mail server refused a mail to the present address for good.
    ADD COLUMN email_refused_at timestamp,
    -- An account that was made without a password goes then, unless its address was proven.
    ADD COLUMN provisional_until timestamp;

CREATE INDEX users_provisional_until_index ON users (provisional_until) WHERE provisional_until IS NOT NULL;

-- Addresses that accounts had a short time ago. Their owners can take the accounts back.
CREATE TABLE former_emails (
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    email text NOT NULL,
    left_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    ends_at timestamp NOT NULL
);

CREATE UNIQUE INDEX former_emails_key ON former_emails (lower(btrim(email)), user_id);
CREATE INDEX former_emails_user_id_index ON former_emails (user_id);
CREATE INDEX former_emails_ends_at_index ON former_emails (ends_at);

-- The digits are not here: they are made of the id, under a key of the service.
CREATE TABLE codes (
    id uuid PRIMARY KEY,
    -- A keyed hash of the account, or of an address without one.
    account text NOT NULL,
    purpose text NOT NULL CHECK (purpose IN ('signin', 'reset', 'email')),
    -- NULL for an address without an account. It has a row, too, so that the time of an answer tells nothing.
    user_id integer REFERENCES users (id) ON DELETE CASCADE,
    -- The address that it is sent to and proves; NULL for the account's own.
    email text,
    created_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    ends_at timestamp NOT NULL,
    -- Tries with a token, from networks that the account knows, and from others.
    session_tries integer NOT NULL DEFAULT 0,
    known_tries integer NOT NULL DEFAULT 0,
    other_tries integer NOT NULL DEFAULT 0
);

-- A new code replaces the one before.
CREATE UNIQUE INDEX codes_account_key ON codes (account, purpose);
CREATE INDEX codes_user_id_index ON codes (user_id);
CREATE INDEX codes_ends_at_index ON codes (ends_at);

-- migrate:down
DROP TABLE codes;
DROP TABLE former_emails;
DROP INDEX users_provisional_until_index;

ALTER TABLE users
    DROP COLUMN provisional_until,
    DROP COLUMN email_refused_at,
    DROP COLUMN email_verified_at;
