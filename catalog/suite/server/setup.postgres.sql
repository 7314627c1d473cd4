-- The degree of parallelism is a setting, and these functions have their own. Of the ways in which a function can run a query,
-- only RETURN QUERY runs in parallel (PostgreSQL 14 and later).
CREATE FUNCTION suite_server_scan_2(lowest integer) RETURNS TABLE (total bigint) LANGUAGE plpgsql
  SET max_parallel_workers_per_gather = 1 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 AS $$
BEGIN
  RETURN QUERY SELECT COUNT(*) + SUM(v) + MAX(other) FROM suite_server_scanned WHERE v > lowest;
END
$$;
CREATE FUNCTION suite_server_scan_4(lowest integer) RETURNS TABLE (total bigint) LANGUAGE plpgsql
  SET max_parallel_workers_per_gather = 3 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 AS $$
BEGIN
  RETURN QUERY SELECT COUNT(*) + SUM(v) + MAX(other) FROM suite_server_scanned WHERE v > lowest;
END
$$;
CREATE FUNCTION suite_server_scan_8(lowest integer) RETURNS TABLE (total bigint) LANGUAGE plpgsql
  SET max_parallel_workers_per_gather = 7 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 AS $$
BEGIN
  RETURN QUERY SELECT COUNT(*) + SUM(v) + MAX(other) FROM suite_server_scanned WHERE v > lowest;
END
$$;
CREATE SEQUENCE suite_server_numbers CACHE 1;
