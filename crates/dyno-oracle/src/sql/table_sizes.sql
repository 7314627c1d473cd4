-- How large the tables of this user are, indexes included. Needs: nothing beyond a session.
-- Returns: table name, bytes.
SELECT t.table_name,
       (SELECT SUM(s.bytes)
          FROM user_segments s
         WHERE s.segment_name = t.table_name
            OR s.segment_name IN (SELECT i.index_name FROM user_indexes i WHERE i.table_name = t.table_name)) AS bytes
  FROM user_tables t
