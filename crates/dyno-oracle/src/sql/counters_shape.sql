-- The test tables, and the indexes and triggers on them: what each is, and when it was last altered. A rewrite gives another segment.
-- Needs: nothing beyond a session. Returns: type, name, number of the segment, moment of the last DDL.
SELECT o.object_type, o.object_name, o.data_object_id, TO_CHAR(o.last_ddl_time, 'YYYY-MM-DD HH24:MI:SS') AS altered
  FROM user_objects o
 WHERE o.object_type = 'TABLE' AND REGEXP_LIKE(o.object_name, '^DYNO_(ROWS|SCAN)_')
UNION ALL
SELECT o.object_type, o.object_name, o.data_object_id, TO_CHAR(o.last_ddl_time, 'YYYY-MM-DD HH24:MI:SS') AS altered
  FROM user_objects o JOIN user_indexes i ON i.index_name = o.object_name
 WHERE o.object_type = 'INDEX' AND REGEXP_LIKE(i.table_name, '^DYNO_(ROWS|SCAN)_')
UNION ALL
SELECT o.object_type, o.object_name, o.data_object_id, TO_CHAR(o.last_ddl_time, 'YYYY-MM-DD HH24:MI:SS') AS altered
  FROM user_objects o JOIN user_triggers t ON t.trigger_name = o.object_name
 WHERE o.object_type = 'TRIGGER' AND REGEXP_LIKE(t.table_name, '^DYNO_(ROWS|SCAN)_')
