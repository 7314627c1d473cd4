-- I/O by type of file: requests, megabytes and milliseconds. {view} is V$IOSTAT_FILE or GV$IOSTAT_FILE.
-- Needs: SELECT on V_$IOSTAT_FILE or GV_$IOSTAT_FILE. Returns: instance, type, and six sums.
SELECT {inst} AS inst, filetype_name,
       SUM(small_read_reqs + large_read_reqs) AS reads,
       SUM(small_write_reqs + large_write_reqs) AS writes,
       SUM(small_read_megabytes + large_read_megabytes) AS read_mb,
       SUM(small_write_megabytes + large_write_megabytes) AS write_mb,
       SUM(small_read_servicetime + large_read_servicetime) AS read_ms,
       SUM(small_write_servicetime + large_write_servicetime) AS write_ms
  FROM {view}
 GROUP BY {group}filetype_name
