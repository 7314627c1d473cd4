-- As in suite/server: a function with its own degree of parallelism.
CREATE FUNCTION suite_star_parallel_2(lowest integer) RETURNS TABLE (most numeric) LANGUAGE plpgsql
  SET max_parallel_workers_per_gather = 1 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 AS $$
BEGIN
  RETURN QUERY SELECT MAX(total) FROM (
    SELECT d.year, d.month, s.region, SUM(f.amount) AS total, COUNT(*) AS sales
    FROM suite_star_sales f JOIN suite_star_days d ON d.day = f.day JOIN suite_star_shops s ON s.shop = f.shop
    WHERE d.year >= lowest GROUP BY d.year, d.month, s.region) parts;
END
$$;
CREATE FUNCTION suite_star_parallel_4(lowest integer) RETURNS TABLE (most numeric) LANGUAGE plpgsql
  SET max_parallel_workers_per_gather = 3 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 AS $$
BEGIN
  RETURN QUERY SELECT MAX(total) FROM (
    SELECT d.year, d.month, s.region, SUM(f.amount) AS total, COUNT(*) AS sales
    FROM suite_star_sales f JOIN suite_star_days d ON d.day = f.day JOIN suite_star_shops s ON s.shop = f.shop
    WHERE d.year >= lowest GROUP BY d.year, d.month, s.region) parts;
END
$$;
CREATE FUNCTION suite_star_parallel_8(lowest integer) RETURNS TABLE (most numeric) LANGUAGE plpgsql
  SET max_parallel_workers_per_gather = 7 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET min_parallel_table_scan_size = 0 AS $$
BEGIN
  RETURN QUERY SELECT MAX(total) FROM (
    SELECT d.year, d.month, s.region, SUM(f.amount) AS total, COUNT(*) AS sales
    FROM suite_star_sales f JOIN suite_star_days d ON d.day = f.day JOIN suite_star_shops s ON s.shop = f.shop
    WHERE d.year >= lowest GROUP BY d.year, d.month, s.region) parts;
END
$$;
