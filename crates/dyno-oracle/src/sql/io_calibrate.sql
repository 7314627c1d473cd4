-- What DBMS_RESOURCE_MANAGER.CALIBRATE_IO measured of this database's storage when it was last run. Needs: SELECT on DBA_RSRC_IO_CALIBRATE.
-- Returns: nothing where nobody has run it; requests of single blocks per second, MB per second of large requests by all and by one process,
-- mean time of a single block in ms, and when it ended.
SELECT max_iops, max_mbps, max_pmbps, latency, TO_CHAR(end_time, 'YYYY-MM-DD HH24:MI:SS') FROM dba_rsrc_io_calibrate
