-- Takes a snapshot of STATSPACK. Needs: EXECUTE on PERFSTAT.STATSPACK. Returns: its number, in :snapshot.
BEGIN
  :snapshot := PERFSTAT.STATSPACK.SNAP(i_snap_level => 5);
END;
