-- What each statement in the cursor cache has done since it was loaded there: one row for each SQL id. {view} is V$SQLSTATS, or
-- GV$SQLSTATS with the rows of all instances. Neither is part of a management pack.
-- Needs: SELECT on V_$SQLSTATS or GV_$SQLSTATS. Returns: SQL id, executions, elapsed time, processor time, and waits of the classes
-- Application and User I/O in us, rows, blocks gotten from the cache or through it, blocks read.
SELECT *
  FROM (SELECT sql_id,
               SUM(executions) AS executions,
               SUM(elapsed_time) AS elapsed_us,
               SUM(cpu_time) AS cpu_us,
               SUM(application_wait_time) AS application_us,
               SUM(user_io_wait_time) AS user_io_us,
               SUM(rows_processed) AS row_count,
               SUM(buffer_gets) AS logical_reads,
               SUM(disk_reads) AS physical_reads
          FROM {view}
         WHERE executions > 0
         GROUP BY sql_id)
 WHERE ROWNUM <= :most
