-- Who holds the lock, as it has written down about itself. Needs: SELECT on V_$SESSION or GV_$SESSION ({view}).
-- Returns: its words, session and serial number.
SELECT client_info, sid, serial# AS serial
  FROM {view}
 WHERE module = 'dyno' AND action = 'lock' AND username = SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
