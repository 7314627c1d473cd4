-- Grants for the Dyno user on MySQL and MariaDB. Run as an administrator. Review before running; replace '%' with the host that
-- Dyno connects from. ALL PRIVILEGES and SUPER are not needed.

-- 1. The user and the database, if they do not exist yet.
-- CREATE USER {user}@'%' IDENTIFIED BY 'choose-a-password';
-- CREATE DATABASE {database};

-- 2. Required for load, run and drop, in this database only.
{load}

-- 3. Optional: shows other users' sessions. Without it, runs work, but `dyno check` cannot list other sessions.
{process}

-- 4. Exact page counts after a load; without it they are estimates.
{page_counts}

-- 5. Adds read and write requests and times, DB time, wait events, top statements and, on MySQL with a binlog, all redo figures.
-- Without it these figures are absent, and `dyno check` reports it.
{performance_schema}

-- 6. Only for a user who runs tests on data loaded by another user (replaces 2):
-- {run}
