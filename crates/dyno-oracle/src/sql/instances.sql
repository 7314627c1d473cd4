-- The instances that are open. Needs: SELECT on GV_$INSTANCE. Returns: number, name, host, start, status.
SELECT inst_id, instance_name, host_name, TO_CHAR(startup_time, 'YYYY-MM-DD"T"HH24:MI:SS') AS started, status
  FROM gv$instance
 ORDER BY inst_id
