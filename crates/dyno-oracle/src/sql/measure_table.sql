-- What the dictionary says of a table after its statistics were gathered. Needs: nothing beyond a session.
-- Returns: rows, blocks below the high-water mark, PCTFREE, parallel degree, bytes of table and indexes.
SELECT t.num_rows, t.blocks, t.pct_free, TRIM(t.degree) AS degree,
       (SELECT SUM(s.bytes)
          FROM user_segments s
         WHERE s.segment_name = t.table_name
            OR s.segment_name IN (SELECT i.index_name FROM user_indexes i WHERE i.table_name = t.table_name)) AS bytes
  FROM user_tables t
 WHERE t.table_name = :table_name
