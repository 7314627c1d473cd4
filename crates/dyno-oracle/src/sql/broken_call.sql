-- What a session does whose call was broken off: whether it still works, what it waits for, and which session blocks it.
-- Needs: SELECT on V_$SESSION. Returns: its status, the event if it waits, and the number of the session that blocks it.
SELECT status, CASE WHEN state = 'WAITING' THEN event END AS event, TO_CHAR(blocking_session) AS blocker
  FROM v$session
 WHERE sid = :sid AND serial# = :serial_no
