-- Grants for the Dyno user on PostgreSQL. Run as an administrator, connected to database {database_name} (\c in psql).
-- Review before running. None of these grants gives superuser rights.

-- 1. The user and the database, if they do not exist yet.
-- CREATE ROLE {user} LOGIN PASSWORD 'choose-a-password';
-- CREATE DATABASE {database};

-- 2. Required for load, run and drop: connect, and create the schema.
{load}

-- 3. Optional: shows other users' sessions and the server's directories (free disk space, the device below). Without it, runs
-- work, and `dyno check` lists what it cannot read.
{monitor}

-- 4. Optional, 15 and later: a checkpoint at the end of a load, so that a run does not start with the writes of the load.
-- GRANT pg_checkpoint TO {user};

-- 5. Only for a user who runs tests on data loaded by another user (replaces CREATE in 2). Run as the user who loaded.
-- {run}

-- 6. Only for a user who loads into the schema dyno that another user created. Run as that user.
-- {load_into_schema}

-- 7. Only for a user who loads tables of a workload of your own (`workload.folder`): into the first schema of its search_path.
-- {load_own}
