-- What sessions of others have done that are connected now: each session of a user that is not this user's under the module
-- `dyno`. Background processes are nobody's. One instance's sessions; in a PDB those of the container.
-- Needs: SELECT on V_$SESSTAT, V_$STATNAME and V_$SESSION. Returns: session, name, value.
SELECT u.sid || ',' || u.serial# AS session_id, n.name, s.value
  FROM v$sesstat s
  JOIN v$statname n ON n.statistic# = s.statistic#
  JOIN v$session u ON u.sid = s.sid
 WHERE u.type = 'USER'
   AND NVL(u.module, '-') || '/' || u.username <> 'dyno/' || SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND s.value > 0
   AND n.name IN (
       'session logical reads', 'physical reads', 'physical read IO requests', 'physical read bytes', 'redo size',
       'user commits', 'user rollbacks', 'execute count', 'table fetch by rowid', 'table scan rows gotten')
