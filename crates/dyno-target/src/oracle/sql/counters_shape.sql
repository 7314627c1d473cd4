-- The test tables, and the indexes and triggers on them: what each is, and when it was last altered. A rewrite gives another segment.
-- Needs: nothing beyond a session. Returns: type, name, number of the segment, moment of the last DDL.
SELECT o.object_type, o.object_name, o.data_object_id, TO_CHAR(o.last_ddl_time, 'YYYY-MM-DD HH24:MI:SS') AS altered
  FROM user_objects o
 WHERE (o.object_type = 'TABLE' AND (o.object_name LIKE 'DYNO!_ROWS!_%' ESCAPE '!' OR o.object_name LIKE 'DYNO!_SCAN!_%' ESCAPE '!'))
    OR (o.object_type = 'INDEX' AND o.object_name IN (
        SELECT i.index_name FROM user_indexes i
         WHERE i.table_name LIKE 'DYNO!_ROWS!_%' ESCAPE '!' OR i.table_name LIKE 'DYNO!_SCAN!_%' ESCAPE '!'))
    OR (o.object_type = 'TRIGGER' AND o.object_name IN (
        SELECT t.trigger_name FROM user_triggers t
         WHERE t.table_name LIKE 'DYNO!_ROWS!_%' ESCAPE '!' OR t.table_name LIKE 'DYNO!_SCAN!_%' ESCAPE '!'))
