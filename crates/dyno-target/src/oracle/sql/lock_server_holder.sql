-- Who holds locks of Dyno's in any schema, as each has written down about itself. Needs: SELECT on V_$SESSION or GV_$SESSION
-- ({view}).
-- Returns: its words, session and serial number.
SELECT client_info, sid, serial# AS serial
  FROM {view}
 WHERE module = 'dyno' AND action = 'lock' AND client_info IS NOT NULL
   AND sid <> TO_NUMBER(SYS_CONTEXT('USERENV', 'SID'))
