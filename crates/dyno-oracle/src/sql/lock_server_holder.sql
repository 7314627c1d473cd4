-- Who holds locks of Dyno's in any schema of this container, as each has written down about itself. {view} and {inst} as in
-- lock_holder.
-- Needs: SELECT on V_$SESSION or GV_$SESSION.
-- Returns: its words, session, serial number and instance.
SELECT client_info, sid, serial# AS serial, {inst} AS inst
  FROM {view}
 WHERE module = 'dyno' AND action = 'lock' AND client_info IS NOT NULL
   AND con_id = TO_NUMBER(SYS_CONTEXT('USERENV', 'CON_ID'))
   AND NOT (sid = TO_NUMBER(SYS_CONTEXT('USERENV', 'SID')) AND {inst} = TO_NUMBER(SYS_CONTEXT('USERENV', 'INSTANCE')))
