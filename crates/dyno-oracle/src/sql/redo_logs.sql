-- The online redo logs. Needs: SELECT on V_$LOG.
-- Returns: groups, bytes of the smallest, bytes of all, groups that have been used, seconds since the oldest of these was begun.
SELECT COUNT(*) AS log_groups, MIN(bytes) AS smallest, SUM(bytes) AS all_bytes, COUNT(first_time) AS used_groups,
       ROUND((SYSDATE - MIN(first_time)) * 86400) AS used_seconds
  FROM v$log
