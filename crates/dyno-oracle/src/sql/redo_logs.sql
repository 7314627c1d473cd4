-- The online redo logs. Needs: SELECT on V_$LOG. Returns: groups, bytes of the smallest, bytes of all.
SELECT COUNT(*) AS log_groups, MIN(bytes) AS smallest, SUM(bytes) AS all_bytes FROM v$log
