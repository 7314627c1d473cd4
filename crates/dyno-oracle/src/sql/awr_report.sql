-- The AWR report between two snapshots. Needs: EXECUTE on SYS.DBMS_WORKLOAD_REPOSITORY, SELECT_CATALOG_ROLE or SELECT on the
-- DBA_HIST views, and the Diagnostics Pack. Returns: its lines.
SELECT output
  FROM TABLE(SYS.DBMS_WORKLOAD_REPOSITORY.AWR_REPORT_HTML(:dbid, :instance, :first_snapshot, :last_snapshot))
