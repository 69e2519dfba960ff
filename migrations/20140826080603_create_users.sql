-- The table as railsauth's own migration of this version made it.
-- migrate:up
CREATE TABLE users (
    id serial PRIMARY KEY,
    first_name varchar(255),
    last_name varchar(255),
    email varchar(255),
    password_hash varchar(255),
    password_salt varchar(255),
    email_verification boolean DEFAULT false,
    verification_code varchar(255),
    api_authtoken varchar(255),
    authtoken_expiry timestamp,
    created_at timestamp,
    updated_at timestamp
);

-- migrate:down
DROP TABLE users;
