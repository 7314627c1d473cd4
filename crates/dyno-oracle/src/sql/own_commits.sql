-- Commits that this session has sent, as the database counts them.
-- Needs: SELECT on V_$SESSTAT and V_$STATNAME. Returns: commits.
SELECT s.value AS commits
  FROM v$sesstat s
  JOIN v$statname n ON n.statistic# = s.statistic#
 WHERE s.sid = TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
   AND n.name = 'user commits'
