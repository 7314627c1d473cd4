-- Computes the optimizer's statistics of a table and its index from all rows, and locks them, so that no maintenance job
-- gathers them anew in the middle of a run.
-- Needs: the table, own.
BEGIN
  DBMS_STATS.GATHER_TABLE_STATS(
    ownname          => SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'),
    tabname          => :table_name,
    estimate_percent => DBMS_STATS.AUTO_SAMPLE_SIZE,
    method_opt       => 'FOR ALL COLUMNS SIZE 1',
    degree           => 1,
    cascade          => TRUE,
    no_invalidate    => FALSE,
    force            => TRUE);
  DBMS_STATS.LOCK_TABLE_STATS(
    ownname => SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA'),
    tabname => :table_name);
END;
