-- What a user of Dyno needs on PostgreSQL, to be run by an administrator of the server, connected to database {database_name} (\c
-- in psql). Read it before you run it. Nothing here is a superuser.

-- 1. The user and the database, where they are not there yet.
-- CREATE ROLE {user} LOGIN PASSWORD 'choose-a-password';
-- CREATE DATABASE {database};

-- 2. To load, run and drop: to connect, and a schema of its own.
GRANT CONNECT, CREATE ON DATABASE {database} TO {user};

-- 3. To see other users' sessions, and where the server's files are (free disk, the device beneath). Without it runs work, and
-- check says what it cannot look at.
GRANT pg_monitor TO {user};

-- 4. From 15 on: the checkpoint at the end of a load, so that a run does not begin with the load's own writes.
-- GRANT pg_checkpoint TO {user};

-- 5. Only for a user that runs what another one has loaded, instead of CREATE in 2: run by the one who loaded.
-- GRANT USAGE ON SCHEMA dyno TO {user};
-- GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA dyno TO {user};
-- GRANT EXECUTE ON ALL PROCEDURES IN SCHEMA dyno TO {user};
