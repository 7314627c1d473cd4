-- What a user of Dyno needs on MySQL and MariaDB, to be run by an administrator. Read it before you run it, and put the host that
-- Dyno connects from for '%'. Nothing here is ALL PRIVILEGES or SUPER.

-- 1. The user and the database, where they are not there yet.
-- CREATE USER {user}@'%' IDENTIFIED BY 'choose-a-password';
-- CREATE DATABASE {database};

-- 2. To load, run and drop, in this database only.
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON {database}.* TO {user}@'%';

-- 3. To see other users' sessions. Without it runs work, and check cannot say who else is there.
GRANT PROCESS ON *.* TO {user}@'%';

-- 4. Exact counts of pages after a load; rounded ones without it.
GRANT SELECT ON mysql.innodb_index_stats TO {user}@'%';

-- 5. Requests and times of reads and writes, db_time, waits, and on MySQL with a binlog all figures of redo: without it these
-- are absent, and check says so.
GRANT SELECT ON performance_schema.* TO {user}@'%';

-- 6. Only for a user that runs what another one has loaded, instead of 2:
-- GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON {database}.* TO {user}@'%';
