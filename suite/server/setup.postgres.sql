-- The degree of parallelism is a setting: these functions have one of their own.
CREATE FUNCTION suite_server_scan_2(lowest integer) RETURNS bigint LANGUAGE plpgsql
  SET max_parallel_workers_per_gather = 1 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 AS $$
DECLARE
  total bigint;
BEGIN
  SELECT COUNT(*) + SUM(v) + MAX(other) INTO total FROM suite_server_rows WHERE v > lowest;
  RETURN total;
END
$$;
CREATE FUNCTION suite_server_scan_4(lowest integer) RETURNS bigint LANGUAGE plpgsql
  SET max_parallel_workers_per_gather = 3 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 AS $$
DECLARE
  total bigint;
BEGIN
  SELECT COUNT(*) + SUM(v) + MAX(other) INTO total FROM suite_server_rows WHERE v > lowest;
  RETURN total;
END
$$;
CREATE SEQUENCE suite_server_numbers CACHE 1;
