-- Rows that railsauth allowed and the steps that follow refuse: all of them are listed, and nothing is changed. It is a
-- step of its own, so that a photo which breaks a rule stops everything before the users' tokens are touched.
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
        GROUP BY lower(btrim(email, E' \t\n\v\f\r')) HAVING count(*) > 1
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

    SELECT string_agg(id::text, ', ' ORDER BY id) INTO ids
    FROM photos WHERE name IS NULL OR title IS NULL;
    IF ids IS NOT NULL THEN
        complaints := complaints || format(
            'Photos without a name or a title, by id: %s. Give them one; an empty string will do.', ids);
    END IF;

    SELECT string_agg(id::text, ', ' ORDER BY id) INTO ids
    FROM photos WHERE btrim(coalesce(random_id, '')) = '';
    IF ids IS NOT NULL THEN
        complaints := complaints || format(
            'Photos without a random_id, which names their object in the bucket, by id: %s. '
            'Fill it in from the bucket, or delete the rows.', ids);
    END IF;

    SELECT string_agg(id::text, ', ' ORDER BY id) INTO ids
    FROM photos WHERE random_id IN (SELECT random_id FROM photos GROUP BY random_id HAVING count(*) > 1);
    IF ids IS NOT NULL THEN
        complaints := complaints || format('Photos that share a random_id, by id: %s. Keep one of each.', ids);
    END IF;

    SELECT string_agg(id::text, ', ' ORDER BY id) INTO ids
    FROM photos WHERE NOT EXISTS (SELECT FROM users WHERE users.id = photos.user_id);
    IF ids IS NOT NULL THEN
        complaints := complaints || format(
            'Photos of a user who does not exist, by id: %s. Give them an owner, or delete the rows.', ids);
    END IF;

    IF complaints <> '{}' THEN
        RAISE EXCEPTION USING MESSAGE = array_to_string(
            complaints || 'Nothing was changed. Mend these rows, then migrate again.'::text, E'\n');
    END IF;
END
$$;

-- migrate:down
