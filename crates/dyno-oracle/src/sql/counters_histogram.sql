-- Distributions of the waits that matter for storage: each bucket holds waits shorter than its microseconds, and not
-- shorter than half of them. Exadata has events of its own for reads from disks, flash cache, persistent memory and by RDMA. {view} is V$EVENT_HISTOGRAM_MICRO, V$CON_EVENT_HISTOGRAM_MICRO or GV$ of either.
-- Needs: SELECT on the view's V_$ or GV_$ object. Returns: event, microseconds, waits.
SELECT event, wait_time_micro, SUM(wait_count) AS waits
  FROM {view}
 WHERE con_id = :con_id
   AND (event IN ('db file sequential read', 'db file scattered read', 'db file parallel read', 'direct path read',
                  'log file sync', 'log file parallel write', 'db file parallel write')
        OR event LIKE 'cell %read%')
   AND wait_count > 0
 GROUP BY event, wait_time_micro
