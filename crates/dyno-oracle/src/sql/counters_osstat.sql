-- What the database's host says of itself. {view} is V$OSSTAT or GV$OSSTAT.
-- Needs: SELECT on V_$OSSTAT or GV_$OSSTAT. Returns: instance, name, value.
SELECT {inst} AS inst, stat_name, value
  FROM {view}
 WHERE con_id = 0
   AND stat_name IN ('NUM_CPUS', 'NUM_CPU_CORES', 'BUSY_TIME', 'IDLE_TIME', 'USER_TIME', 'SYS_TIME', 'IOWAIT_TIME',
                     'NICE_TIME', 'LOAD', 'PHYSICAL_MEMORY_BYTES', 'VM_IN_BYTES', 'VM_OUT_BYTES')
