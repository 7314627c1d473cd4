-- Takes an AWR snapshot. Needs: EXECUTE on SYS.DBMS_WORKLOAD_REPOSITORY, and the Diagnostics Pack.
-- Returns: its number, in :snapshot.
BEGIN
  :snapshot := SYS.DBMS_WORKLOAD_REPOSITORY.CREATE_SNAPSHOT;
END;
