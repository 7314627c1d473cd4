-- What Dyno's sessions do right now. {view} is V$SESSION or GV$SESSION.
-- Needs: SELECT on V_$SESSION or GV_$SESSION. Returns: class and event of each active session; CPU where it does not wait.
SELECT CASE WHEN state = 'WAITING' THEN wait_class ELSE 'CPU' END AS class,
       CASE WHEN state = 'WAITING' THEN event ELSE 'CPU' END AS event
  FROM {view}
 WHERE module = 'dyno'
   AND action LIKE 'session %'
   AND username = SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND status = 'ACTIVE'
   AND NOT (state = 'WAITING' AND wait_class = 'Idle')
