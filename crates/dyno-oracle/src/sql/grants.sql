-- What a user of Dyno needs, to be run by a DBA (in a container database: inside the PDB). Read it before you run it, and put
-- your own names for the user DYNO and the tablespace USERS. Nothing here is SYSDBA, DBA or a management pack.

-- 1. To load, run and drop: a session, tables of its own, room for them.
CREATE USER dyno IDENTIFIED BY "choose-a-password" DEFAULT TABLESPACE users QUOTA UNLIMITED ON users;
GRANT CREATE SESSION, CREATE TABLE TO dyno;

-- 2. One Dyno at a time on one schema. Without it runs work, and nothing keeps a second Dyno off.
GRANT EXECUTE ON SYS.DBMS_LOCK TO dyno;

-- 3. To read counters, waits and settings. Each that is missing leaves its figures out, and Dyno says which.
GRANT SELECT ON SYS.V_$SYSSTAT TO dyno;
GRANT SELECT ON SYS.V_$SYSTEM_EVENT TO dyno;
GRANT SELECT ON SYS.V_$EVENT_HISTOGRAM_MICRO TO dyno;
GRANT SELECT ON SYS.V_$SYS_TIME_MODEL TO dyno;
GRANT SELECT ON SYS.V_$OSSTAT TO dyno;
GRANT SELECT ON SYS.V_$IOSTAT_FILE TO dyno;
GRANT SELECT ON SYS.V_$PARAMETER TO dyno;
GRANT SELECT ON SYS.V_$SGAINFO TO dyno;
GRANT SELECT ON SYS.V_$INSTANCE TO dyno;
GRANT SELECT ON SYS.V_$DATABASE TO dyno;
GRANT SELECT ON SYS.V_$SESSION TO dyno;
GRANT SELECT ON SYS.V_$SESSTAT TO dyno;
GRANT SELECT ON SYS.V_$STATNAME TO dyno;
GRANT SELECT ON SYS.V_$LOG TO dyno;
GRANT SELECT ON SYS.V_$DNFS_SERVERS TO dyno;
GRANT SELECT ON SYS.DBA_RSRC_IO_CALIBRATE TO dyno;

-- 4. In a container database: the figures of the PDB beside those of the instance, and whether it takes writes.
GRANT SELECT ON SYS.V_$PDBS TO dyno;
GRANT SELECT ON SYS.V_$CON_SYSSTAT TO dyno;
GRANT SELECT ON SYS.V_$CON_SYSTEM_EVENT TO dyno;
GRANT SELECT ON SYS.V_$CON_EVENT_HISTOGRAM_MICRO TO dyno;
GRANT SELECT ON SYS.V_$CON_SYS_TIME_MODEL TO dyno;

-- 5. On RAC: the figures of all instances.
GRANT SELECT ON SYS.GV_$INSTANCE TO dyno;
GRANT SELECT ON SYS.GV_$SYSSTAT TO dyno;
GRANT SELECT ON SYS.GV_$SYSTEM_EVENT TO dyno;
GRANT SELECT ON SYS.GV_$EVENT_HISTOGRAM_MICRO TO dyno;
GRANT SELECT ON SYS.GV_$SYS_TIME_MODEL TO dyno;
GRANT SELECT ON SYS.GV_$OSSTAT TO dyno;
GRANT SELECT ON SYS.GV_$IOSTAT_FILE TO dyno;
GRANT SELECT ON SYS.GV_$SESSION TO dyno;
GRANT SELECT ON SYS.GV_$CON_SYSSTAT TO dyno;
GRANT SELECT ON SYS.GV_$CON_SYSTEM_EVENT TO dyno;
GRANT SELECT ON SYS.GV_$CON_EVENT_HISTOGRAM_MICRO TO dyno;
GRANT SELECT ON SYS.GV_$CON_SYS_TIME_MODEL TO dyno;

-- 6. Only where the Diagnostics Pack is licensed and reports of AWR are wanted (observe.awr):
-- GRANT EXECUTE ON SYS.DBMS_WORKLOAD_REPOSITORY TO dyno;
-- GRANT SELECT_CATALOG_ROLE TO dyno;
-- Or where STATSPACK is installed:
-- GRANT EXECUTE ON PERFSTAT.STATSPACK TO dyno;

-- 7. Only for workloads that make sequences or procedures in their setup (insert-constant-size, key-value, queue, time-series,
-- order entry with procedures), and for bulk loads that end with a checkpoint:
-- GRANT CREATE SEQUENCE TO dyno;
-- GRANT CREATE PROCEDURE TO dyno;
-- GRANT ALTER SYSTEM TO dyno;

-- 8. Only to take the statements of an application from its cursor cache (dyno import-statements). No pack is needed; texts of all
-- users can be seen then:
-- GRANT SELECT ON SYS.V_$SQLSTATS TO dyno;
-- GRANT SELECT ON SYS.V_$SQL TO dyno;
