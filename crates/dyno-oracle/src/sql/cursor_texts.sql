-- The beginnings of the texts of the statements whose SQL ids are in :ids, and of those by which Dyno observes: an observer executed
-- them first, or another connection of Dyno did and they read views of the instance. {view} is V$SQLSTATS or GV$SQLSTATS, {cursors} is
-- V$SQL or GV$SQL. A piece of 1,000 letters fits a VARCHAR2 in any character set.
-- Needs: SELECT on V_$SQLSTATS and V_$SQL, or GV_$ of both. Returns: SQL id, the first two pieces of the text, a schema in which it
-- was parsed, 1 for a statement by which Dyno observes (else 0).
SELECT s.sql_id,
       DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 1) AS piece_1,
       DBMS_LOB.SUBSTR(s.sql_fulltext, 1000, 1001) AS piece_2,
       (SELECT MIN(q.parsing_schema_name) FROM {cursors} q WHERE q.sql_id = s.sql_id) AS parsed_in,
       (SELECT COUNT(DISTINCT q.module)
          FROM {cursors} q
         WHERE q.sql_id = s.sql_id
           AND q.module = 'dyno'
           AND (q.action IN ('observer', 'sampler') OR INSTR(s.sql_text, 'v$') > 0)) AS observing
  FROM {view} s
 WHERE INSTR(:ids, s.sql_id) > 0
    OR EXISTS (SELECT 1
                 FROM {cursors} o
                WHERE o.sql_id = s.sql_id
                  AND o.module = 'dyno'
                  AND (o.action IN ('observer', 'sampler') OR INSTR(s.sql_text, 'v$') > 0))
