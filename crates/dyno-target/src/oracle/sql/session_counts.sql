-- How full the instance's table of sessions is. Needs: SELECT on V_$SESSION. Returns: sessions of every kind.
SELECT COUNT(*) AS sessions FROM v$session
