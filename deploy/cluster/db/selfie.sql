-- The service's role and database. Run it once, as postgres on the primary:
-- SELFIE_PASSWORD=... psql --file=selfie.sql
\set ON_ERROR_STOP on
\getenv password SELFIE_PASSWORD
-- A password must not get into the server's log, whatever its settings are.
SET log_statement = none;
SET log_min_duration_statement = -1;
SET log_min_error_statement = panic;
SELECT 'CREATE ROLE selfie LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'selfie') \gexec
ALTER ROLE selfie NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'password';
-- Behind PgBouncer, the service does not set these for its sessions.
ALTER ROLE selfie SET jit = off;
ALTER ROLE selfie SET statement_timeout = '2500ms';
ALTER ROLE selfie SET timezone = 'UTC';
SELECT 'CREATE DATABASE selfie OWNER selfie' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'selfie') \gexec
