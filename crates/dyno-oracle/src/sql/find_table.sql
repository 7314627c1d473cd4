-- Whether the user has a table of this name. Needs: nothing beyond a session.
-- Returns: bytes of the table and its indexes (null without a segment), or no row.
SELECT (SELECT SUM(s.bytes)
          FROM user_segments s
         WHERE s.segment_name = t.table_name
            OR s.segment_name IN (SELECT i.index_name FROM user_indexes i WHERE i.table_name = t.table_name)) AS bytes
  FROM user_tables t
 WHERE t.table_name = UPPER(:object_name)
