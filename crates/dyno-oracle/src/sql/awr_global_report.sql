-- The AWR report of a cluster between two snapshots; the empty list of instances means all of them.
-- Needs: as the report of one instance. Returns: its lines.
SELECT output
  FROM TABLE(SYS.DBMS_WORKLOAD_REPOSITORY.AWR_GLOBAL_REPORT_HTML(:dbid, '', :first_snapshot, :last_snapshot))
