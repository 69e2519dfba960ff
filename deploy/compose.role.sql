-- For compose.yaml: PostgreSQL's image runs this once, when it creates the database. The service's role is not a
-- superuser, and owns only its database. It gets the superuser's password, and the superuser has none afterwards. So a
-- superuser can connect only inside the container: docker compose exec database psql -U postgres
\getenv password POSTGRES_PASSWORD
-- The password must not get into the server's log, whatever its settings are.
SET log_statement = none;
SET log_min_duration_statement = -1;
SET log_min_error_statement = panic;
BEGIN;
CREATE ROLE selfie LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'password';
ALTER DATABASE selfie OWNER TO selfie;
ALTER ROLE postgres PASSWORD NULL;
COMMIT;
