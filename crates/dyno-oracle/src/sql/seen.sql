-- The statements in this instance's cursor cache that were parsed in the schema :schema_name, those of most {order} first. V$SQLSTATS
-- and V$SQL are no part of a management pack. A piece of 1,000 letters fits a VARCHAR2 in any character set.
-- Needs: SELECT on V_$SQLSTATS and V_$SQL. Returns: SQL id, executions, elapsed time in us, rows, blocks read, letters of the
-- text, and its first four pieces.
SELECT *
  FROM (SELECT s.sql_id, s.executions, s.elapsed_time, s.rows_processed, s.disk_reads,
               DBMS_LOB.GETLENGTH(s.sql_fulltext) AS letters,
               DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 1) AS piece_1,
               DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 1001) AS piece_2,
               DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 2001) AS piece_3,
               DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 3001) AS piece_4
          FROM v$sqlstats s
         WHERE EXISTS (SELECT 1 FROM v$sql q WHERE q.sql_id = s.sql_id AND q.parsing_schema_name = :schema_name)
         ORDER BY s.{order} DESC, s.sql_id)
 WHERE ROWNUM <= :most
