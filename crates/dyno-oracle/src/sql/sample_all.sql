-- All sessions at work right now but those that look on. {view} is V$SESSION or GV$SESSION.
-- Needs: SELECT on V_$SESSION or GV_$SESSION. Returns: class and event of each active session (CPU where it does not wait),
-- its user, its program.
SELECT CASE WHEN state = 'WAITING' THEN wait_class ELSE 'CPU' END AS class,
       CASE WHEN state = 'WAITING' THEN event ELSE 'CPU' END AS event,
       username,
       program
  FROM {view}
 WHERE type = 'USER'
   AND status = 'ACTIVE'
   AND NOT (NVL(module, '-') = 'dyno' AND NVL(action, '-') IN ('observer', 'sampler'))
   AND NOT (state = 'WAITING' AND wait_class = 'Idle')
