-- migrate:up
ALTER TABLE photos ADD COLUMN random_id varchar(255);

-- migrate:down
ALTER TABLE photos DROP COLUMN random_id;
