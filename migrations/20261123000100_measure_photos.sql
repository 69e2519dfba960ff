-- The size of a photo, in pixels, as it is to be shown. NULL for one that was stored before, until its object was read.
-- migrate:up
ALTER TABLE photos ADD COLUMN width integer, ADD COLUMN height integer;
ALTER TABLE photos ADD CONSTRAINT photos_have_a_size CHECK (width > 0 AND height > 0) NOT VALID;

-- migrate:down
ALTER TABLE photos DROP COLUMN width, DROP COLUMN height;
