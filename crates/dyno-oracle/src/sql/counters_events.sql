-- Waits by event. {view} is V$SYSTEM_EVENT, V$CON_SYSTEM_EVENT or GV$ of either; {inst} as in counters_sysstat.
-- Needs: SELECT on the view's V_$ or GV_$ object. Returns: instance, event, class, waits, microseconds, and both of
-- foreground sessions alone.
SELECT {inst} AS inst, event, wait_class, total_waits, time_waited_micro, total_waits_fg, time_waited_micro_fg
  FROM {view}
 WHERE con_id = :con_id
   AND wait_class <> 'Idle'
   AND total_waits > 0
