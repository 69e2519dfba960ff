-- E-mails become unique without regard to case and surrounding spaces, and what the service relies on must be there.
-- migrate:up
UPDATE users SET email = btrim(email, E' \t\n\v\f\r') WHERE email <> btrim(email, E' \t\n\v\f\r');

ALTER TABLE users
    ALTER COLUMN first_name SET NOT NULL,
    ALTER COLUMN last_name SET NOT NULL,
    ALTER COLUMN email SET NOT NULL,
    ALTER COLUMN password_hash SET NOT NULL,
    ALTER COLUMN created_at SET DEFAULT (now() AT TIME ZONE 'UTC'),
    ALTER COLUMN updated_at SET DEFAULT (now() AT TIME ZONE 'UTC');

CREATE UNIQUE INDEX users_email_key ON users (lower(btrim(email)));

-- migrate:down
DROP INDEX users_email_key;

ALTER TABLE users
    ALTER COLUMN first_name DROP NOT NULL,
    ALTER COLUMN last_name DROP NOT NULL,
    ALTER COLUMN email DROP NOT NULL,
    ALTER COLUMN password_hash DROP NOT NULL,
    ALTER COLUMN created_at DROP DEFAULT,
    ALTER COLUMN updated_at DROP DEFAULT;
