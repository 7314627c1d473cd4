-- Who and where this session is. Needs: nothing beyond a session.
-- Returns: user, current schema, database, unique name, container and its number (null and 0 without containers), service,
-- instance, host of the server, tcp or tcps, role of the database, session.
SELECT SYS_CONTEXT('USERENV', 'SESSION_USER') AS session_user,
       SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') AS current_schema,
       SYS_CONTEXT('USERENV', 'DB_NAME') AS db_name,
       SYS_CONTEXT('USERENV', 'DB_UNIQUE_NAME') AS db_unique_name,
       SYS_CONTEXT('USERENV', 'CDB_NAME') AS cdb_name,
       SYS_CONTEXT('USERENV', 'CON_NAME') AS con_name,
       SYS_CONTEXT('USERENV', 'CON_ID') AS con_id,
       SYS_CONTEXT('USERENV', 'SERVICE_NAME') AS service_name,
       SYS_CONTEXT('USERENV', 'INSTANCE_NAME') AS instance_name,
       SYS_CONTEXT('USERENV', 'SERVER_HOST') AS server_host,
       SYS_CONTEXT('USERENV', 'NETWORK_PROTOCOL') AS network_protocol,
       SYS_CONTEXT('USERENV', 'DATABASE_ROLE') AS database_role,
       SYS_CONTEXT('USERENV', 'SID') AS sid
  FROM dual
