-- Sessions of users beside Dyno's own. Needs: SELECT on V_$SESSION. Returns: all, at work.
SELECT COUNT(*) AS others, COUNT(CASE WHEN status = 'ACTIVE' THEN 1 END) AS active
  FROM v$session
 WHERE type = 'USER' AND NVL(module, '-') <> 'dyno'
