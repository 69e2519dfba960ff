-- Between 0.14.0 and the next release, there were other migrations for streams and records. A database that
-- has them can't be brought up to date from here.
-- migrate:up
DO $$
DECLARE
    unreleased text;
BEGIN
    SELECT string_agg(version, ', ' ORDER BY version) INTO unreleased FROM schema_migrations
    WHERE version IN (
        '20261125000100', '20261125000300', '20261125000400', '20261125000500', '20261126000000', '20261126000100',
        '20261127000100', '20261127003100', '20261128000100'
    );
    IF unreleased IS NOT NULL THEN
        RAISE EXCEPTION USING MESSAGE = format(
            E'This database has migrations that were never released: %s.\n'
            'Revert them with the program that applied them: selfie migrate down --to 20261123000200. '
            'This deletes records, roles and profiles. Accounts and photos stay.\n'
            'Nothing was changed. Then migrate again with this program.', unreleased);
    END IF;
END
$$;

-- migrate:down
