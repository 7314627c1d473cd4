-- Statistics of the instance, or of the container. {view} is V$SYSSTAT, V$CON_SYSSTAT or GV$ of either; {inst} is INST_ID of
-- a GV$ view, 0 else. :con_id is 0 for rows of the whole instance ("V$SYSSTAT" in the Database Reference: data of the entire CDB, and
-- of databases without containers), else the container's number: never rows of both.
-- Needs: SELECT on the view's V_$ or GV_$ object. Returns: instance, name, value.
SELECT {inst} AS inst, name, value
  FROM {view}
 WHERE con_id = :con_id
   AND name IN (
       'CPU used by this session', 'DB time', 'background timeouts', 'bytes received via SQL*Net from client',
       'bytes sent via SQL*Net to client', 'cell flash cache read hits', 'cell physical IO interconnect bytes',
       'commit batch/immediate performed', 'commit nowait performed', 'commit wait performed', 'consistent gets',
       'consistent gets direct', 'consistent gets from cache', 'CR blocks created', 'DBWR checkpoint buffers written',
       'db block changes', 'db block gets', 'db block gets direct', 'deferred (CURRENT) block cleanout applications',
       'enqueue waits', 'execute count', 'free buffer waits', 'gc cr blocks received', 'gc current blocks received',
       'logons cumulative', 'parse count (hard)', 'parse count (total)', 'physical read IO requests',
       'physical read bytes', 'physical read total IO requests', 'physical read total bytes',
       'physical read requests optimized', 'physical reads', 'physical reads cache', 'physical reads cache prefetch',
       'physical reads direct', 'physical write IO requests', 'physical write bytes', 'physical write total IO requests',
       'physical write total bytes', 'physical writes', 'physical writes direct', 'physical writes from cache',
       'recursive calls', 'redo blocks written', 'redo entries', 'redo log space requests', 'redo log space wait time',
       'redo size', 'redo synch time (usec)', 'redo synch writes', 'redo wastage', 'redo write time',
       'redo write time (usec)', 'redo writes', 'session logical reads', 'sorts (disk)',
       'summed dirty queue length', 'table fetch by rowid', 'table fetch continued row',
       'table scan blocks gotten', 'table scan rows gotten', 'table scans (direct read)', 'table scans (long tables)',
       'table scans (short tables)', 'transaction rollbacks', 'undo change vector size',
       'user calls', 'user commits', 'user rollbacks')
