-- The table as railsauth's own migration of this version made it.
-- migrate:up
CREATE TABLE photos (
    id serial PRIMARY KEY,
    name varchar(255),
    title varchar(255),
    image_url varchar(255),
    user_id integer,
    created_at timestamp,
    updated_at timestamp
);

-- migrate:down
DROP TABLE photos;
