-- Sessions of users beside Dyno's own, on all instances that may work for the target, in this container (:con_id, 0 without
-- containers). {view} is V$SESSION or GV$SESSION.
-- Needs: SELECT on V_$SESSION or GV_$SESSION. Returns: all, at work.
SELECT COUNT(*) AS others, COUNT(CASE WHEN status = 'ACTIVE' THEN 1 END) AS active
  FROM {view}
 WHERE type = 'USER'
   AND con_id = :con_id
   AND NVL(module, '-') <> 'dyno'
