-- A session for each sign-in, with the token's SHA-256 digest instead of the token. Tokens that railsauth kept in the
-- clear become sessions, so that those alive at the switch go on working, and leave the table users.
-- migrate:up
CREATE TABLE sessions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    token_digest bytea NOT NULL CHECK (octet_length(token_digest) = 32),
    expires_at timestamp NOT NULL,
    created_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')
);

CREATE UNIQUE INDEX sessions_token_digest_key ON sessions (token_digest);
CREATE INDEX sessions_user_id_index ON sessions (user_id);

INSERT INTO sessions (user_id, token_digest, expires_at)
SELECT id, sha256(convert_to(api_authtoken, 'UTF8')), coalesce(authtoken_expiry, updated_at, '1970-01-01')
FROM users
WHERE btrim(coalesce(api_authtoken, '')) <> ''
ON CONFLICT (token_digest) DO NOTHING;

UPDATE users SET api_authtoken = NULL, authtoken_expiry = NULL
WHERE api_authtoken IS NOT NULL OR authtoken_expiry IS NOT NULL;

-- migrate:down
DROP TABLE sessions;
