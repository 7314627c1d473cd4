-- This instance. Needs: SELECT on V_$INSTANCE. Returns: number, name, host, start, status.
SELECT instance_number, instance_name, host_name, TO_CHAR(startup_time, 'YYYY-MM-DD"T"HH24:MI:SS') AS started, status
  FROM v$instance
