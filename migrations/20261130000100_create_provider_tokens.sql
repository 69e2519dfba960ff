-- What Apple and Google let this service send pushes with, for about an hour. All processes share a token: Apple counts them.
-- migrate:up
CREATE TABLE provider_tokens (
    -- The provider, and the key or account that it is for.
    name text PRIMARY KEY,
    -- Sealed under a key of the service; NULL until there is one.
    token text,
    issued_at timestamp,
    CHECK ((token IS NULL) = (issued_at IS NULL))
);

-- migrate:down
DROP TABLE provider_tokens;
