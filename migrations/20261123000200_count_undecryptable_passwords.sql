-- How often clients sent passwords that can't be decrypted, for each day and reason. An app that encrypts with another key is
-- the most common trouble of a new installation, and selfie doctor tells of it.
-- migrate:up
CREATE TABLE undecryptable_passwords (
    day date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
    reason text NOT NULL,
    count bigint NOT NULL,
    last_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC'),
    PRIMARY KEY (day, reason)
);

-- migrate:down
DROP TABLE undecryptable_passwords;
