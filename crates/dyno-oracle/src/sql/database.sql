-- Modes of the database that change what a commit or a load writes. Needs: SELECT on V_$DATABASE.
-- Returns: log mode, force logging, open mode, role, protection mode, flashback.
SELECT log_mode, force_logging, open_mode, database_role, protection_mode, flashback_on FROM v$database
