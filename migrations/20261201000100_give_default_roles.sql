-- Some roles are given to each new user.
-- migrate:up
ALTER TABLE roles ADD COLUMN is_default boolean NOT NULL DEFAULT false;

CREATE FUNCTION give_default_roles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO role_members (role_id, user_id) SELECT id, NEW.id FROM roles WHERE is_default;
    RETURN NULL;
END
$$;

CREATE TRIGGER users_get_roles AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION give_default_roles();

-- migrate:down
DROP TRIGGER users_get_roles ON users;
DROP FUNCTION give_default_roles();
ALTER TABLE roles DROP COLUMN is_default;
