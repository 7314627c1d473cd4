-- How full an instance's table of sessions is, as far as this container sees: that of the fullest instance. {view} is V$SESSION or
-- GV$SESSION, {inst} the number of the instance.
-- Needs: SELECT on V_$SESSION or GV_$SESSION. Returns: sessions of every kind.
SELECT MAX(s.sessions) AS sessions
  FROM (SELECT COUNT(*) OVER (PARTITION BY {inst}) AS sessions FROM {view}) s
