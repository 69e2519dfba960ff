-- For compose.yaml: PostgreSQL's image runs this once, when it makes the database. The service's role is no superuser, and
-- owns its database alone. It takes over the password of the superuser, who then has none. So nobody is a superuser but
-- who is in the container: docker compose exec database psql -U postgres
\getenv password POSTGRES_PASSWORD
BEGIN;
CREATE ROLE selfie LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'password';
ALTER DATABASE selfie OWNER TO selfie;
ALTER ROLE postgres PASSWORD NULL;
COMMIT;
