-- Times of the instance, or of the container, in microseconds. {view} is V$SYS_TIME_MODEL, V$CON_SYS_TIME_MODEL or GV$ of
-- either; {inst} as in counters_sysstat.
-- Needs: SELECT on the view's V_$ or GV_$ object. Returns: instance, name, microseconds.
SELECT {inst} AS inst, stat_name, value
  FROM {view}
 WHERE con_id = :con_id
