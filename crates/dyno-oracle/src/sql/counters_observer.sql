-- Blocks that Dyno's own observer and sampler have read since they connected. One instance's sessions; in a PDB those of the
-- container.
-- Needs: SELECT on V_$SESSTAT, V_$STATNAME and V_$SESSION. Returns: session, name, value.
SELECT u.sid || ',' || u.serial# AS session_id, n.name, s.value
  FROM v$sesstat s
  JOIN v$statname n ON n.statistic# = s.statistic#
  JOIN v$session u ON u.sid = s.sid
 WHERE u.module = 'dyno'
   AND u.action IN ('observer', 'sampler')
   AND u.username = SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND n.name IN ('session logical reads', 'physical reads', 'physical read IO requests', 'physical read bytes')
