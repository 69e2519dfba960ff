-- E-mails become unique without regard to case and surrounding spaces, and what the service relies on must be there.
-- Rows that break a rule stop the migration with a list of them.
-- migrate:up
DO $$
DECLARE
    complaints text[] := '{}';
    ids text;
BEGIN
    SELECT string_agg('(' || same.ids || ')', ', ' ORDER BY same.first_id) INTO ids
    FROM (
        SELECT min(id) AS first_id, string_agg(id::text, ', ' ORDER BY id) AS ids
        FROM users WHERE email IS NOT NULL
        GROUP BY lower(btrim(email)) HAVING count(*) > 1
    ) AS same;
    IF ids IS NOT NULL THEN
        complaints := complaints || format(
            'Users whose e-mails are the same but for case or spaces, by id: %s. '
            'Change the e-mail of all but one of each group, or delete those.', ids);
    END IF;

    SELECT string_agg(id::text, ', ' ORDER BY id) INTO ids
    FROM users WHERE first_name IS NULL OR last_name IS NULL;
    IF ids IS NOT NULL THEN
        complaints := complaints || format(
            'Users without a first or last name, by id: %s. Give them one; an empty string will do.', ids);
    END IF;

    SELECT string_agg(id::text, ', ' ORDER BY id) INTO ids
    FROM users WHERE btrim(coalesce(email, '')) = '' OR btrim(coalesce(password_hash, '')) = '';
    IF ids IS NOT NULL THEN
        complaints := complaints || format(
            'Users without an e-mail or a password hash, who can never sign in, by id: %s. '
            'Fill these in, or delete the users.', ids);
    END IF;

    IF complaints <> '{}' THEN
        RAISE EXCEPTION USING MESSAGE = array_to_string(
            complaints || 'Nothing was changed. Mend these rows of the table users, then migrate again.'::text, E'\n');
    END IF;
END
$$;

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
