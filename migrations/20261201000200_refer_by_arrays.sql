-- Fields may be arrays of ids, each of which refers to something.
-- migrate:up
-- The id in an array; empty for a field with one value.
ALTER TABLE record_references ADD COLUMN element text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE record_references DROP CONSTRAINT record_references_pkey;
ALTER TABLE record_references ADD PRIMARY KEY (record_key, field, element);
ALTER TABLE photo_references ADD COLUMN element text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE photo_references DROP CONSTRAINT photo_references_pkey;
ALTER TABLE photo_references ADD PRIMARY KEY (record_key, field, element);

-- migrate:down
DO $$
BEGIN
    IF EXISTS (SELECT FROM record_references WHERE element <> '' UNION ALL SELECT FROM photo_references WHERE element <> '')
    THEN
        RAISE EXCEPTION 'Some records have arrays of references or photos, which earlier versions do not know.';
    END IF;
END
$$;
ALTER TABLE photo_references DROP CONSTRAINT photo_references_pkey;
ALTER TABLE photo_references ADD PRIMARY KEY (record_key, field);
ALTER TABLE photo_references DROP COLUMN element;
ALTER TABLE record_references DROP CONSTRAINT record_references_pkey;
ALTER TABLE record_references ADD PRIMARY KEY (record_key, field);
ALTER TABLE record_references DROP COLUMN element;
