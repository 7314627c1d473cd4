-- The user's tables whose names begin as Dyno's do. Needs: nothing beyond a session.
-- Returns: name, comment, bytes of table and indexes (null without a segment).
SELECT t.table_name,
       c.comments,
       (SELECT SUM(s.bytes)
          FROM user_segments s
         WHERE s.segment_name = t.table_name
            OR s.segment_name IN (SELECT i.index_name FROM user_indexes i WHERE i.table_name = t.table_name)) AS bytes
  FROM user_tables t
  LEFT JOIN user_tab_comments c ON c.table_name = t.table_name AND c.table_type = 'TABLE'
 WHERE t.table_name LIKE 'DYNO\_%' ESCAPE '\'
