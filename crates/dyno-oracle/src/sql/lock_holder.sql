-- Who holds the lock, as it has written down about itself: in this container, and not this session, whose number another
-- instance may have given too. {view} is V$SESSION or GV$SESSION, {inst} the number of the instance.
-- Needs: SELECT on V_$SESSION or GV_$SESSION.
-- Returns: its words, session, serial number and instance.
SELECT client_info, sid, serial# AS serial, {inst} AS inst
  FROM {view}
 WHERE module = 'dyno' AND action = 'lock' AND username = SYS_CONTEXT('USERENV', 'SESSION_USER')
   AND con_id = TO_NUMBER(SYS_CONTEXT('USERENV', 'CON_ID'))
   AND NOT (sid = TO_NUMBER(SYS_CONTEXT('USERENV', 'SID')) AND {inst} = TO_NUMBER(SYS_CONTEXT('USERENV', 'INSTANCE')))
