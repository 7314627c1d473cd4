-- Grants for the Dyno user. Run as a DBA (in a container database: inside the PDB). Review before running; replace the
-- tablespace USERS with your own. SYSDBA, the DBA role and a management pack license are not needed.

-- 1. Required for load, run and drop: a session, own tables, and space for them.
CREATE USER {user} IDENTIFIED BY "choose-a-password" DEFAULT TABLESPACE users QUOTA UNLIMITED ON users;
GRANT CREATE SESSION, CREATE TABLE TO {user};

-- 2. Lets Dyno lock its schema. Without it, runs work, but a second Dyno on the schema is not refused.
GRANT EXECUTE ON SYS.DBMS_LOCK TO {user};

-- 3. To read counters, waits and settings. Without one of them its figures are absent, and Dyno lists them.
GRANT SELECT ON SYS.V_$SYSSTAT TO {user};
GRANT SELECT ON SYS.V_$SYSTEM_EVENT TO {user};
GRANT SELECT ON SYS.V_$EVENT_HISTOGRAM_MICRO TO {user};
GRANT SELECT ON SYS.V_$SYS_TIME_MODEL TO {user};
GRANT SELECT ON SYS.V_$OSSTAT TO {user};
GRANT SELECT ON SYS.V_$IOSTAT_FILE TO {user};
GRANT SELECT ON SYS.V_$PARAMETER TO {user};
GRANT SELECT ON SYS.V_$SGAINFO TO {user};
GRANT SELECT ON SYS.V_$INSTANCE TO {user};
GRANT SELECT ON SYS.V_$DATABASE TO {user};
GRANT SELECT ON SYS.V_$SESSION TO {user};
GRANT SELECT ON SYS.V_$SESSTAT TO {user};
GRANT SELECT ON SYS.V_$STATNAME TO {user};
GRANT SELECT ON SYS.V_$LOG TO {user};
GRANT SELECT ON SYS.V_$DNFS_SERVERS TO {user};
GRANT SELECT ON SYS.DBA_RSRC_IO_CALIBRATE TO {user};

-- 4. In a container database: figures of the PDB in addition to those of the instance, and its open mode.
GRANT SELECT ON SYS.V_$PDBS TO {user};
GRANT SELECT ON SYS.V_$CON_SYSSTAT TO {user};
GRANT SELECT ON SYS.V_$CON_SYSTEM_EVENT TO {user};
GRANT SELECT ON SYS.V_$CON_EVENT_HISTOGRAM_MICRO TO {user};
GRANT SELECT ON SYS.V_$CON_SYS_TIME_MODEL TO {user};

-- 5. On RAC: the figures of all instances.
GRANT SELECT ON SYS.GV_$INSTANCE TO {user};
GRANT SELECT ON SYS.GV_$SYSSTAT TO {user};
GRANT SELECT ON SYS.GV_$SYSTEM_EVENT TO {user};
GRANT SELECT ON SYS.GV_$EVENT_HISTOGRAM_MICRO TO {user};
GRANT SELECT ON SYS.GV_$SYS_TIME_MODEL TO {user};
GRANT SELECT ON SYS.GV_$OSSTAT TO {user};
GRANT SELECT ON SYS.GV_$IOSTAT_FILE TO {user};
GRANT SELECT ON SYS.GV_$SESSION TO {user};
GRANT SELECT ON SYS.GV_$CON_SYSSTAT TO {user};
GRANT SELECT ON SYS.GV_$CON_SYSTEM_EVENT TO {user};
GRANT SELECT ON SYS.GV_$CON_EVENT_HISTOGRAM_MICRO TO {user};
GRANT SELECT ON SYS.GV_$CON_SYS_TIME_MODEL TO {user};

-- 6. Only with a Diagnostics Pack license, for AWR reports (observe.awr):
-- GRANT EXECUTE ON SYS.DBMS_WORKLOAD_REPOSITORY TO {user};
-- GRANT SELECT_CATALOG_ROLE TO {user};
-- Or where STATSPACK is installed:
-- GRANT EXECUTE ON PERFSTAT.STATSPACK TO {user};

-- 7. Only for workloads whose setup creates sequences or procedures (insert-constant-size, key-value, queue, time-series,
-- order entry with procedures), and for bulk loads that end with a checkpoint:
-- GRANT CREATE SEQUENCE TO {user};
-- GRANT CREATE PROCEDURE TO {user};
-- GRANT ALTER SYSTEM TO {user};

-- 8. Only for the top statements of runs and watches and for `dyno import statements`, which read the cursor cache. No management pack
-- is needed. The user can then read the SQL text of all users. On RAC the same with GV_$SQLSTATS and GV_$SQL:
-- GRANT SELECT ON SYS.V_$SQLSTATS TO {user};
-- GRANT SELECT ON SYS.V_$SQL TO {user};
