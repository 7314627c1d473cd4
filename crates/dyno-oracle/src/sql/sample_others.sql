-- Who else is at work right now: sessions of users, but those of this user under the module `dyno`. {view} is V$SESSION or
-- GV$SESSION.
-- Needs: SELECT on V_$SESSION or GV_$SESSION. Returns: user and program of each active session.
SELECT username, program
  FROM {view}
 WHERE type = 'USER'
   AND status = 'ACTIVE'
   AND NVL(module, '-') || '/' || username <> 'dyno/' || SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND NVL(DECODE(state, 'WAITING', wait_class), '-') <> 'Idle'
